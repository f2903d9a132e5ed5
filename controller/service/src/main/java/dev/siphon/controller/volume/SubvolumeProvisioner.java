package dev.siphon.controller.volume;

import dev.siphon.controller.volume.SubvolumeInventory.KnownSubvolume;
import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.controller.volume.Subvolumes.SubvolumeSpec;
import dev.siphon.controller.volume.VolumeClass.MutableParameters;
import dev.siphon.controller.volume.VolumeRequest.ResolvedVolumeSpec;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.Optional;
import java.util.OptionalLong;

/// Creates subvolumes, and groups for them, within the allowances of their accounts.
final class SubvolumeProvisioner {
    private final Subvolumes subvolumes;
    private final FileTree files;
    private final SubvolumeInventory inventory;
    private final AllowanceLedger ledger;
    private final AccountAccess access;

    SubvolumeProvisioner(CephPorts ports, SubvolumeInventory inventory, AllowanceLedger ledger, AccountAccess access) {
        this.access = access;
        this.subvolumes = ports.subvolumes();
        this.files = ports.files();
        this.inventory = inventory;
        this.ledger = ledger;
    }

    /// Sets the account's allowance before anything is created for it.
    ///
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if the account may hold nothing
    void applyAllowance(ResolvedVolumeSpec requested) {
        if (!requested.account().mayHoldSomething()) {
            // to Ceph a quota of 0 means no limit
            throw new DriverException.QuotaExhausted("account "
                    + requested.account().name() + " may hold nothing: its allowance in the directory is 0 bytes");
        }
        SubvolumeGroup group = SubvolumeGroup.of(requested.id());
        ledger.applyAllowance(group, inventory.exists(group), requested.account(), requested.allowanceBytes());
    }

    /// Creates the subvolume, and the group if it is the account's first.
    ///
    /// @param size empty for an alias, to which nobody writes
    void make(ResolvedVolumeSpec requested, OptionalLong size, int mode) {
        applyAllowance(requested);
        boolean overcommit = requested.parameters().overcommit();
        long counts = CephNames.countsNothing(requested.id().subvolume()) ? 0 : size.orElse(0);
        boolean _ = ledger.reserve(AllowanceLedger.Request.of(requested.id(), counts, overcommit), () -> {
            makeSubvolume(requested, size, mode);
            return true;
        });
        if (overcommit) {
            noteOvercommit(requested.id());
        }
    }

    private void makeSubvolume(ResolvedVolumeSpec requested, OptionalLong size, int mode) {
        prepareGroup(requested);
        inventory.note(requested.id(), new KnownSubvolume.Unsure());
        SubvolumeSpec spec = new SubvolumeSpec(
                size,
                requested.owner().uid(),
                requested.owner().gid(),
                mode,
                requested.parameters().dataPool());
        try {
            subvolumes.create(requested.id(), spec);
        } catch (DriverException.NotFound groupGone) {
            // somebody removed it by hand, which Ceph allows once it is empty
            SubvolumeGroup group = SubvolumeGroup.of(requested.id());
            inventory.exists(group, false);
            makeGroup(group, requested);
            subvolumes.create(requested.id(), spec);
        }
    }

    /// Creates the group if it is the account's first, and grants the claim's namespace its use. Runs before the
    /// volume is created, since the grant may be refused. Idempotent.
    void prepareGroup(ResolvedVolumeSpec requested) {
        SubvolumeGroup group = SubvolumeGroup.of(requested.id());
        if (!inventory.exists(group)) {
            makeGroup(group, requested);
        }
        allowNamespace(requested);
    }

    /// Grants the claim's namespace the use of the account's volumes.
    void allowNamespace(ResolvedVolumeSpec requested) {
        requested
                .parameters()
                .claim()
                .ifPresent(claim -> access.grant(
                        SubvolumeGroup.of(requested.id()), requested.account().name(), claim.namespace()));
    }

    /// Records that a class with `overcommit` created the volume. Idempotent.
    void noteOvercommit(VolumeId.Provisioned id) {
        String path = SubvolumeGroup.pathOf(id);
        files.setNote(id.cluster(), id.fileSystem(), path, GroupUsage.OVERCOMMITTED, "true");
    }

    /// Applies mutable parameters; makes no call if there are none.
    void apply(VolumeId.Provisioned id, Subvolume found, MutableParameters changes) {
        if (!changes.isNothing()) {
            changes.apply(files, id.cluster(), id.fileSystem(), found.dataPath().orElseThrow());
        }
    }

    /// Creates the group with a note for people: the account may disappear before the reconciler has seen the
    /// group, and then only the note has its name.
    private void makeGroup(SubvolumeGroup group, ResolvedVolumeSpec requested) {
        OptionalLong allowance = requested.allowanceBytes();
        subvolumes.createGroup(
                group,
                allowance.isPresent() ? OptionalLong.of(AllowanceLedger.quota(allowance.getAsLong())) : allowance,
                Optional.empty());
        files.setNote(
                group.cluster(),
                group.fileSystem(),
                group.path(),
                AccountNote.NAME,
                AccountNote.of(requested.account()).text());
        inventory.exists(group, true);
    }
}
