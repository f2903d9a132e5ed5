package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Inventory.Known;
import dev.siphon.controller.volume.Subvolumes.SubvolumeSpec;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.Optional;
import java.util.OptionalLong;

/// Makes subvolumes, and groups for them, as far as the allowances of their accounts go.
final class Making {
    private final Subvolumes subvolumes;
    private final FileTree files;
    private final Inventory inventory;
    private final Ledger ledger;
    private final AccountAccess access;

    Making(CephPorts ports, Inventory inventory, Ledger ledger, AccountAccess access) {
        this.access = access;
        this.subvolumes = ports.subvolumes();
        this.files = ports.files();
        this.inventory = inventory;
        this.ledger = ledger;
    }

    /// Says whether the account may have anything, and how much.
    void allow(Wish wish) {
        if (!wish.account().mayHoldSomething()) {
            // to Ceph a quota of 0 would be no limit
            throw new DriverException.QuotaExhausted("account " + wish.account().name()
                    + " may hold nothing: its allowance in the directory is 0 bytes");
        }
        Group group = Group.of(wish.id());
        ledger.allow(group, inventory.exists(group), wish.account(), wish.allowanceBytes());
    }

    /// Makes the subvolume, and the group if it is the account's first.
    ///
    /// @param size empty for what only stands for a home, and is written by nobody
    void make(Wish wish, OptionalLong size, int mode) {
        allow(wish);
        boolean overcommit = wish.parameters().overcommit();
        long counts = Names.countsNothing(wish.id().subvolume()) ? 0 : size.orElse(0);
        boolean _ = ledger.spend(Ledger.Request.of(wish.id(), counts, overcommit), () -> {
            makeSubvolume(wish, size, mode);
            return true;
        });
        if (overcommit) {
            noteOvercommit(wish.id());
        }
    }

    private void makeSubvolume(Wish wish, OptionalLong size, int mode) {
        prepareGroup(wish);
        inventory.note(wish.id(), new Known.Unsure());
        SubvolumeSpec spec = new SubvolumeSpec(
                size,
                wish.owner().uid(),
                wish.owner().gid(),
                mode,
                wish.parameters().dataPool());
        try {
            subvolumes.create(wish.id(), spec);
        } catch (DriverException.NotFound groupGone) {
            // somebody removed it by hand, which Ceph allows once it is empty
            Group group = Group.of(wish.id());
            inventory.exists(group, false);
            makeGroup(group, wish);
            subvolumes.create(wish.id(), spec);
        }
    }

    /// Makes the group if it is the account's first, and lets the claim's namespace use it. Comes before the volume,
    /// since it may be refused. Repeating it costs nothing.
    void prepareGroup(Wish wish) {
        Group group = Group.of(wish.id());
        if (!inventory.exists(group)) {
            makeGroup(group, wish);
        }
        allowNamespace(wish);
    }

    /// Lets the claim's namespace use the account's volumes.
    void allowNamespace(Wish wish) {
        wish.parameters()
                .claim()
                .ifPresent(claim ->
                        access.allow(Group.of(wish.id()), wish.account().name(), claim.namespace()));
    }

    /// Writes down that a class with `overcommit` made the volume; repeating it is safe.
    void noteOvercommit(VolumeId.Provisioned id) {
        String path = Group.of(id).path() + "/" + id.subvolume();
        files.setNote(id.cluster(), id.fileSystem(), path, Holdings.OVERCOMMITTED, "true");
    }

    /// The note is for people: of an account that goes before the reconciler has seen the group, nothing else would
    /// tell the name.
    private void makeGroup(Group group, Wish wish) {
        OptionalLong allowance = wish.allowanceBytes();
        subvolumes.createGroup(
                group,
                allowance.isPresent() ? OptionalLong.of(Ledger.quota(allowance.getAsLong())) : allowance,
                Optional.empty());
        files.setNote(
                group.cluster(),
                group.fileSystem(),
                group.path(),
                AccountNote.NAME,
                AccountNote.of(wish.account()).text());
        inventory.exists(group, true);
    }
}
