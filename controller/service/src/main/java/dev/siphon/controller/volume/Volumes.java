package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;

/// Creates, finds, changes and removes volumes. Every operation may be repeated, or cut off half-way: a retry
/// completes it. Of two at once on one volume, the second fails with ABORTED.
public final class Volumes {
    private final Subvolumes subvolumes;
    private final FileTree files;
    private final VolumePlacement placement;
    private final SubvolumeInventory inventory;
    private final KeyedOperations operations;
    private final CreateVolumeOperation createVolume;
    private final VolumePopulator populator;
    private final AccountFreeze accountFreeze;
    private final AllowanceLedger ledger;
    private final SnapshotCharges charges;

    /// @param ports the domain's ports to Ceph
    /// @param owners decides who owns a volume
    /// @param callers keys and grants for the volumes
    /// @param operations lock each volume, so that two operations do not run at once
    /// @param timeLeft returns the time left until the caller's deadline
    public Volumes(
            CephPorts ports, Owners owners, Callers callers, KeyedOperations operations, Supplier<Duration> timeLeft) {
        this.subvolumes = ports.subvolumes();
        this.files = ports.files();
        this.placement = new VolumePlacement(ports.clusters(), owners);
        this.inventory = new SubvolumeInventory(subvolumes);
        this.operations = operations;
        this.accountFreeze = new AccountFreeze(files);
        this.ledger = new AllowanceLedger(files, timeLeft, System::nanoTime);
        this.charges = new SnapshotCharges(subvolumes, files, ledger);
        this.populator = new VolumePopulator(ports, inventory, ledger, callers.keys(), timeLeft);
        this.createVolume = new CreateVolumeOperation(
                ports, inventory, ledger, populator, new VolumeContextWriter(ports.clusters()), operations, callers);
    }

    /// Returns the ledger that enforces every account's allowance.
    public AllowanceLedger ledger() {
        return ledger;
    }

    SnapshotCharges snapshotCharges() {
        return charges;
    }

    SubvolumeInventory inventory() {
        return inventory;
    }

    /// Refuses to create anything for a frozen account.
    void checkNotFrozen(SubvolumeGroup group) {
        accountFreeze.check(group);
    }

    VolumePlacement placement() {
        return placement;
    }

    /// Creates a volume, or finds the one of an earlier try (CSI v1.13, CreateVolume).
    ///
    /// After a refusal with a final code, nothing is left but the account's group.
    ///
    /// An empty volume costs one mgr command. The first volume of a group since the controller started costs one
    /// more, and the first volume of an account another.
    ///
    /// @throws DriverException.IncompatibleExisting (ALREADY_EXISTS) if a volume of that name does not fit the
    ///     request
    /// @throws DriverException.NotFound (NOT_FOUND) if the source does not exist
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if it does not fit the account's allowance
    /// @throws DriverException.OperationPending (ABORTED) if its contents are not complete before the deadline
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the account is frozen
    /// @throws DriverException whatever [Owners#of] throws
    public Volume create(VolumeRequest request) {
        VolumePlacement.OwnedGroup place = placement.choose(request.parameters());
        VolumeId.Provisioned any = place.group().volume(CephNames.plain(place.group(), request.name()));
        return operations.run(key(any), () -> {
            // another process may have made the group to freeze the account, so the inventory's word does not count
            accountFreeze.check(place.group());
            return createVolume.create(place, request);
        });
    }

    /// Returns the lock key of a volume, the same for all kinds of volumes that one name can mean.
    static String key(VolumeId id) {
        return switch (id) {
            case VolumeId.WithPath fixed -> fixed.toString();
            case VolumeId.Provisioned volume ->
                "volume " + SubvolumeGroup.of(volume) + " name " + CephNames.common(volume.subvolume());
        };
    }

    /// Returns whether this or an earlier version of the driver can have created a volume of that id; always true
    /// if its path is in its id.
    public static boolean canHaveMade(VolumeId id) {
        return switch (id) {
            case VolumeId.WithPath _ -> true;
            case VolumeId.Provisioned volume ->
                CephNames.isGroup(volume.group())
                        && CephNames.kindOf(volume.subvolume()).isPresent();
        };
    }

    /// Returns whether a group is an account's.
    public static boolean isOurs(SubvolumeGroup group) {
        return CephNames.isGroup(group.name());
    }

    /// Returns whether the volume is backed by a snapshot, so that nobody can write to it.
    public static boolean isReadOnly(VolumeId.Provisioned volume) {
        return CephNames.kindOf(volume.subvolume())
                .filter(CephNames.Kind.SHALLOW::equals)
                .isPresent();
    }

    /// Deletes a volume; its snapshots stay usable. A missing one is no error (CSI v1.13, DeleteVolume).
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it is static, a dataset or a home, or its cluster is
    ///     unknown
    public void delete(VolumeId id) {
        VolumeId.Provisioned volume = provisioned(id, "deleted; set persistentVolumeReclaimPolicy: Retain on its PV");
        if (Homes.isHome(volume)) {
            throw new DriverException.InUse("volume " + volume + " is the home of an account and belongs to no claim:"
                    + " `siphon home ACCOUNT --delete --yes` removes it");
        }
        operations.run(key(volume), () -> {
            populator.remove(volume);
        });
    }

    /// Removes the home of an account and its files. A missing one is no error.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `home` is no home
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it has an alias
    public void deleteHome(VolumeId.Provisioned home) {
        if (!Homes.isHome(home)) {
            throw new DriverException.InvalidRequest(
                    "secrets: " + Homes.DELETE + " is set, but " + home + " is not a home");
        }
        operations.run(key(home), () -> {
            checkUnused(home, Optional.empty());
            populator.remove(home);
        });
    }

    /// Removes an alias, and its home with the files; if either is missing, that is no error. A refusal
    /// changes neither.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `alias` is no alias
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if that home has another alias
    public void deleteAliasAndHome(VolumeId.Provisioned alias) {
        if (!Homes.isAlias(alias)) {
            throw new DriverException.InvalidRequest(
                    "secrets: " + Homes.DELETE + " is set, but " + alias + " shows no home");
        }
        VolumeId.Provisioned home = Homes.behind(alias);
        operations.run(
                key(alias),
                () -> operations.run(key(home), () -> {
                    checkUnused(home, Optional.of(alias));
                    populator.remove(alias);
                    populator.remove(home);
                }));
    }

    private void checkUnused(VolumeId.Provisioned home, Optional<VolumeId.Provisioned> butBy) {
        for (VolumeId.Provisioned alias : inventory.matching(SubvolumeGroup.of(home), CephNames.aliasPrefix(), "")) {
            if (Homes.isAlias(alias)
                    && !butBy.equals(Optional.of(alias))
                    && subvolumes.find(alias).isPresent()) {
                throw new DriverException.InUse(
                        "home " + home + " is in use as volume " + alias + "; delete that volume first");
            }
        }
    }

    /// Returns what is known of a volume (CSI v1.13, ControllerGetVolume).
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if there is none
    public Volume get(VolumeId id) {
        return switch (id) {
            case VolumeId.WithPath fixed ->
                new Volume(fixed, quotaBytes(fixed).orElse(0), Optional.empty(), Optional.empty());
            case VolumeId.Provisioned volume -> {
                Subvolume found = files(volume);
                yield new Volume(volume, found.quotaBytes().orElse(0), Optional.empty(), Optional.empty());
            }
        };
    }

    /// Grows a volume to at least the size that `range` requires, and never shrinks it (CSI v1.13,
    /// ControllerExpandVolume). For an alias, the home grows.
    ///
    /// @return its size now, in bytes
    /// @throws DriverException.NotFound (NOT_FOUND) if there is none
    /// @throws DriverException.CapacityOutOfRange (OUT_OF_RANGE) if it already exceeds the range's limit, or is
    ///     backed by a snapshot and would have to grow
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the account is frozen, or the volume is a dataset,
    ///     static without a quota, or static inside a Siphon group
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if that does not fit the account's allowance
    public long expand(VolumeId id, CapacityRange range) {
        return operations.run(key(id), () -> switch (id) {
            case VolumeId.DatasetVolume sealed -> throw new DriverException.InUse("dataset " + sealed + " cannot grow");
            case VolumeId.Static fixed -> expandStatic(fixed, range);
            case VolumeId.Provisioned alias
            when Homes.isAlias(alias) -> {
                Subvolume _ = live(alias);
                VolumeId.Provisioned home = Homes.behind(alias);
                yield operations.run(key(home), () -> expandProvisioned(home, range));
            }
            case VolumeId.Provisioned volume -> expandProvisioned(volume, range);
        });
    }

    private long expandProvisioned(VolumeId.Provisioned volume, CapacityRange range) {
        OptionalLong now = live(volume).quotaBytes();
        if (now.isEmpty()) {
            return range.requiredBytes();
        }
        long wanted = grown(volume, now.getAsLong(), range);
        if (wanted > now.getAsLong() && isReadOnly(volume)) {
            throw new DriverException.CapacityOutOfRange(
                    "volume " + volume + " is a snapshot of " + now.getAsLong() + " bytes and cannot grow");
        }
        if (wanted > now.getAsLong()) {
            accountFreeze.check(SubvolumeGroup.of(volume));
            boolean _ = ledger.grow(AllowanceLedger.Request.of(volume, wanted, false), () -> {
                subvolumes.resize(volume, wanted);
                return true;
            });
            inventory.note(volume, new SubvolumeInventory.KnownSubvolume.Live(OptionalLong.of(wanted)));
        }
        return wanted;
    }

    /// As [#live], for the subvolume with the volume's files: for an alias, its home.
    private Subvolume files(VolumeId.Provisioned volume) {
        Subvolume found = live(volume);
        return Homes.isAlias(volume) ? live(Homes.behind(volume)) : found;
    }

    /// Changes the mutable parameters of a volume (CSI v1.13, ControllerModifyVolume).
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if there is no such volume
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is backed by a snapshot, is a dataset, or is
    ///     an alias of a home that others use too
    public void modify(VolumeId id, MutableParameters changes) {
        operations.run(key(id), () -> {
            switch (id) {
                case VolumeId.Provisioned shallow
                when isReadOnly(shallow) -> {
                    Subvolume _ = live(shallow);
                    throw new DriverException.InvalidRequest(
                            "mutable_parameters: volume " + id + " is a snapshot, which nothing can change");
                }
                case VolumeId.Provisioned alias
                when Homes.isAlias(alias) -> {
                    Subvolume _ = live(alias);
                    throw new DriverException.InvalidRequest("mutable_parameters: volume " + id + " is the home "
                            + Homes.behind(alias) + ", which other claims share; an administrator may change the home");
                }
                case VolumeId.DatasetVolume sealed -> {
                    OptionalLong _ = quotaBytes(sealed);
                    throw new DriverException.InvalidRequest(
                            "mutable_parameters: volume " + id + " is a sealed dataset, which nothing can change");
                }
                case VolumeId.Static fixed -> {
                    OptionalLong _ = quotaBytes(fixed);
                    createVolume.apply(fixed.cluster(), fixed.fileSystem(), fixed.path(), changes);
                }
                case VolumeId.Provisioned volume -> createVolume.apply(volume, live(volume), changes);
            }
        });
    }

    /// Returns the subvolume of a usable volume.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if there is none
    /// @throws DriverException.OperationPending (ABORTED) if a clone still fills it
    Subvolume live(VolumeId.Provisioned volume) {
        Subvolume found = subvolumes
                .find(volume)
                .orElseThrow(() -> new DriverException.NotFound("volume " + volume + " does not exist"));
        return switch (found.state()) {
            case READY -> found;
            case CLONING -> throw new DriverException.OperationPending("volume " + volume + " is still being filled");
            case CLONE_ENDED_BADLY, RETAINED, BROKEN ->
                throw new DriverException.NotFound(
                        "volume " + volume + " does not exist; what is left of it is " + found.state());
        };
    }

    /// Returns the volumes that may be backed by a snapshot.
    List<VolumeId.Provisioned> standingFor(SnapshotId snapshot) {
        return inventory.matching(
                SubvolumeGroup.of(snapshot.volume()), CephNames.shallowPrefix(), CephNames.shallowSuffix(snapshot));
    }

    /// Returns whether a copy of the snapshot is filling a volume.
    boolean isCopied(SnapshotId snapshot) {
        return populator.reads(snapshot);
    }

    /// Returns the size that a snapshot's volume had.
    OptionalLong sizeOf(SnapshotId snapshot) {
        return populator.sizeOf(snapshot);
    }

    /// Returns when a snapshot was taken.
    Instant takenAt(SnapshotId snapshot) {
        return populator.takenAt(snapshot);
    }

    /// Returns the quota of a volume whose path is in its id; empty if it has none.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if its path does not exist
    OptionalLong quotaBytes(VolumeId.WithPath fixed) {
        try {
            return files.quotaBytes(fixed.cluster(), fixed.fileSystem(), fixed.path());
        } catch (DriverException.NotFound missing) {
            throw new DriverException.NotFound("volume " + fixed + " does not exist");
        }
    }

    private long expandStatic(VolumeId.Static fixed, CapacityRange range) {
        if (SubvolumeGroup.holds(fixed.path())) {
            // its quota is an account's allowance, or counts against one
            throw new DriverException.InUse("static volume " + fixed
                    + " lies in an account's directory, which Siphon manages; expand the volume by its id"
                    + " from CreateVolume");
        }
        long now = quotaBytes(fixed)
                .orElseThrow(() -> new DriverException.InUse("static volume " + fixed
                        + " has no quota to raise; set ceph.quota.max_bytes on its directory first"));
        long wanted = grown(fixed, now, range);
        if (wanted > now) {
            files.setQuotaBytes(fixed.cluster(), fixed.fileSystem(), fixed.path(), wanted);
        }
        return wanted;
    }

    private static long grown(VolumeId id, long now, CapacityRange range) {
        if (range.limitBytes() > 0 && now > range.limitBytes()) {
            throw new DriverException.CapacityOutOfRange("volume " + id + " has " + now
                    + " bytes, more than capacity_range.limit_bytes " + range.limitBytes() + ", and never shrinks");
        }
        return Math.max(now, range.requiredBytes());
    }

    private static VolumeId.Provisioned provisioned(VolumeId id, String cannotBe) {
        return switch (id) {
            case VolumeId.Provisioned volume -> volume;
            case VolumeId.WithPath fixed ->
                throw new DriverException.InUse("static volume " + fixed + " cannot be " + cannotBe);
        };
    }
}
