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

/// Volumes: made, found, changed and removed. Everything here may be repeated, run twice at once (the
/// second is told to come back, ABORTED), or be cut off half-way: a retry finishes it.
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

    /// @param ports what the domain needs from Ceph
    /// @param owners says who owns a volume
    /// @param callers what those who use volumes need
    /// @param operations keeps two operations on one volume apart
    /// @param timeLeft what is left of the caller's deadline
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

    /// Holds every account to its allowance.
    public AllowanceLedger ledger() {
        return ledger;
    }

    SnapshotCharges snapshotCharges() {
        return charges;
    }

    SubvolumeInventory inventory() {
        return inventory;
    }

    /// Refuses what would make something for a frozen account.
    void checkNotFrozen(SubvolumeGroup group) {
        accountFreeze.check(group);
    }

    VolumePlacement placement() {
        return placement;
    }

    /// Makes a volume, or finds the one that an earlier try made (CSI v1.13, CreateVolume).
    ///
    /// Of a request that is refused with a final code nothing is left but the account's group.
    ///
    /// One mgr command for an empty volume; one more for the first volume of a group since the controller
    /// started, and one more for the first volume of an account.
    ///
    /// @throws DriverException.IncompatibleExisting (ALREADY_EXISTS) if there is one of that name that does
    ///     not fit
    /// @throws DriverException.NotFound (NOT_FOUND) if the source does not exist
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if it does not fit the account's allowance
    /// @throws DriverException.OperationPending (ABORTED) if its contents are not whole before the deadline
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the account is frozen
    /// @throws DriverException whatever [Owners#of] throws
    public Volume create(VolumeRequest request) {
        VolumePlacement.OwnedGroup place = placement.choose(request.parameters());
        VolumeId.Provisioned any = place.group().volume(CephNames.plain(place.group(), request.name()));
        return operations.run(key(any), () -> {
            if (inventory.exists(place.group())) {
                accountFreeze.check(place.group());
            }
            return createVolume.create(place, request);
        });
    }

    /// The key of operations on a volume, the same for all kinds of volumes that one name could have made.
    static String key(VolumeId id) {
        return switch (id) {
            case VolumeId.ByHand fixed -> fixed.toString();
            case VolumeId.Provisioned volume ->
                "volume " + SubvolumeGroup.of(volume) + " name " + CephNames.common(volume.subvolume());
        };
    }

    /// Whether this or an earlier version of the driver can have made a volume of that id; a static one
    /// anybody.
    public static boolean canHaveMade(VolumeId id) {
        return switch (id) {
            case VolumeId.ByHand _ -> true;
            case VolumeId.Provisioned volume ->
                CephNames.isGroup(volume.group())
                        && CephNames.kindOf(volume.subvolume()).isPresent();
        };
    }

    /// Whether a group is an account's.
    public static boolean isOurs(SubvolumeGroup group) {
        return CephNames.isGroup(group.name());
    }

    /// Whether the volume stands for a snapshot, so that it can never be written.
    public static boolean isReadOnly(VolumeId.Provisioned volume) {
        return CephNames.kindOf(volume.subvolume())
                .filter(CephNames.Kind.SHALLOW::equals)
                .isPresent();
    }

    /// Removes a volume; its snapshots stay usable. One that is not there is no error (CSI v1.13,
    /// DeleteVolume).
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it is static, or its cluster is not known
    public void delete(VolumeId id) {
        VolumeId.Provisioned volume = provisioned(id, "deleted; set persistentVolumeReclaimPolicy: Retain on its PV");
        if (Homes.isHome(volume)) {
            throw new DriverException.InUse("volume " + volume + " is the home of an account, which no claim owns:"
                    + " `siphon home ACCOUNT --delete --yes` removes it");
        }
        operations.run(key(volume), () -> {
            populator.remove(volume);
        });
    }

    /// Removes the home of an account with the files in it. One that is not there is no error.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `home` is none
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a volume stands for it
    public void deleteHome(VolumeId.Provisioned home) {
        if (!Homes.isHome(home)) {
            throw new DriverException.InvalidRequest("secrets: " + Homes.DELETE + ", and " + home + " is no home");
        }
        operations.run(key(home), () -> {
            checkUnused(home, Optional.empty());
            populator.remove(home);
        });
    }

    /// Removes the home behind a volume with the files in it, and that volume; of both, one that is not there
    /// is no error. Whoever is refused finds both as they were.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `door` stands for no home
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if another volume stands for that home
    public void deleteHomeBehind(VolumeId.Provisioned door) {
        if (!Homes.isDoor(door)) {
            throw new DriverException.InvalidRequest(
                    "secrets: " + Homes.DELETE + ", and " + door + " stands for no home");
        }
        VolumeId.Provisioned home = Homes.behind(door);
        operations.run(
                key(door),
                () -> operations.run(key(home), () -> {
                    checkUnused(home, Optional.of(door));
                    populator.remove(door);
                    populator.remove(home);
                }));
    }

    private void checkUnused(VolumeId.Provisioned home, Optional<VolumeId.Provisioned> butBy) {
        for (VolumeId.Provisioned door : inventory.matching(SubvolumeGroup.of(home), CephNames.doorPrefix(), "")) {
            if (Homes.isDoor(door)
                    && !butBy.equals(Optional.of(door))
                    && subvolumes.find(door).isPresent()) {
                throw new DriverException.InUse(
                        "home " + home + " is in use as volume " + door + "; delete that volume first");
            }
        }
    }

    /// What is known of a volume (CSI v1.13, ControllerGetVolume).
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if there is none
    public Volume get(VolumeId id) {
        return switch (id) {
            case VolumeId.ByHand fixed ->
                new Volume(fixed, quotaBytes(fixed).orElse(0), Optional.empty(), Optional.empty());
            case VolumeId.Provisioned volume -> {
                Subvolume found = files(volume);
                yield new Volume(volume, found.quotaBytes().orElse(0), Optional.empty(), Optional.empty());
            }
        };
    }

    /// Gives a volume at least the size that `range` requires; it never shrinks (CSI v1.13,
    /// ControllerExpandVolume). Of a door the home grows.
    ///
    /// @return its size now, in bytes
    /// @throws DriverException.NotFound (NOT_FOUND) if there is none
    /// @throws DriverException.CapacityOutOfRange (OUT_OF_RANGE) if it is larger than the range's limit
    ///     already, or stands for a snapshot and would have to grow
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the account is frozen
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if that does not fit the account's allowance
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it is static and has no quota to raise
    public long expand(VolumeId id, CapacityRange range) {
        return operations.run(key(id), () -> switch (id) {
            case VolumeId.DatasetVolume sealed -> throw new DriverException.InUse("dataset " + sealed + " cannot grow");
            case VolumeId.Static fixed -> expandStatic(fixed, range);
            case VolumeId.Provisioned door
            when Homes.isDoor(door) -> {
                Subvolume _ = live(door);
                VolumeId.Provisioned home = Homes.behind(door);
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

    /// As [#live], of what holds the files of a volume: of a door the home behind it.
    private Subvolume files(VolumeId.Provisioned volume) {
        Subvolume found = live(volume);
        return Homes.isDoor(volume) ? live(Homes.behind(volume)) : found;
    }

    /// Changes what a VolumeAttributesClass may change (CSI v1.13, ControllerModifyVolume).
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if there is no such volume
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it stands for a snapshot, or for a home that
    ///     others use too
    public void modify(VolumeId id, MutableParameters changes) {
        operations.run(key(id), () -> {
            switch (id) {
                case VolumeId.Provisioned shallow
                when isReadOnly(shallow) -> {
                    Subvolume _ = live(shallow);
                    throw new DriverException.InvalidRequest(
                            "mutable_parameters: volume " + id + " is a snapshot, which nothing can change");
                }
                case VolumeId.Provisioned door
                when Homes.isDoor(door) -> {
                    Subvolume _ = live(door);
                    throw new DriverException.InvalidRequest("mutable_parameters: volume " + id + " is the home "
                            + Homes.behind(door) + ", which others use too; an administrator may change that one");
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

    /// The subvolume of a volume that can be used.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if there is none
    /// @throws DriverException.OperationPending (ABORTED) if its contents are not there yet
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

    /// The volumes that may stand for a snapshot.
    List<VolumeId.Provisioned> standingFor(SnapshotId snapshot) {
        return inventory.matching(
                SubvolumeGroup.of(snapshot.volume()), CephNames.shallowPrefix(), CephNames.shallowSuffix(snapshot));
    }

    /// Whether a volume is being filled with a copy of the snapshot.
    boolean isCopied(SnapshotId snapshot) {
        return populator.reads(snapshot);
    }

    /// The size that a snapshot's volume had.
    OptionalLong sizeOf(SnapshotId snapshot) {
        return populator.sizeOf(snapshot);
    }

    /// When a snapshot was taken.
    Instant takenAt(SnapshotId snapshot) {
        return populator.takenAt(snapshot);
    }

    /// The quota of a volume that was written by hand; empty if it has none.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if there is nothing at its path
    OptionalLong quotaBytes(VolumeId.ByHand fixed) {
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
                    + " is a part of what Siphon provisions; expand the volume by the id that CreateVolume gave it");
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
            case VolumeId.ByHand fixed ->
                throw new DriverException.InUse("static volume " + fixed + " cannot be " + cannotBe);
        };
    }
}
