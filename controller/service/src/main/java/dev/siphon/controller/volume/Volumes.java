package dev.siphon.controller.volume;

import dev.siphon.controller.volume.VolumeClass.MutableParameters;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ClaimAccessMode;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;

/// Creates, finds, changes and removes volumes. Every operation may be repeated, or cut off half-way: a retry
/// completes it. Of two changes at once to one volume, the second fails with ABORTED. Creating or deleting a volume
/// that shows a dataset does not: it changes nothing in Ceph but a key.
///
/// This class chooses the kind of a volume, and locks the volume; [VolumeKind] does the work.
public final class Volumes {
    private final StoredKind.Parts parts;
    private final VolumePlacement placement;
    private final SnapshotCharges charges;
    private final PlainKind plain;
    private final FilledKind filled;
    private final SnapshotBackedKind snapshotBacked;
    private final HomeKind home;
    private final StaticKind fixed;
    private final DatasetKind dataset;

    /// @param ports the domain's ports to Ceph
    /// @param owners decides who owns a volume
    /// @param callers keys and grants for the volumes
    /// @param operations lock each volume, so that two operations do not run at once
    /// @param timeLeft returns the time left until the caller's deadline
    public Volumes(
            CephPorts ports, Owners owners, Callers callers, KeyedOperations operations, Supplier<Duration> timeLeft) {
        this(
                StoredKind.Parts.over(ports, callers, operations, timeLeft),
                new VolumePlacement(ports.clusters(), owners),
                ClaimedDatasets.NONE,
                SnapshotDatasets.NONE);
    }

    private Volumes(
            StoredKind.Parts parts, VolumePlacement placement, ClaimedDatasets datasets, SnapshotDatasets snapshots) {
        FileTree files = parts.ports().files();
        this.parts = parts;
        this.placement = placement;
        this.charges = new SnapshotCharges(parts.ports().subvolumes(), files, parts.ledger());
        this.plain = new PlainKind(parts);
        this.filled = new FilledKind(parts);
        this.snapshotBacked = new SnapshotBackedKind(parts);
        this.home = new HomeKind(parts, plain);
        this.fixed = new StaticKind(files);
        this.dataset = new DatasetKind(files, datasets, snapshots);
    }

    /// Returns the same volumes, and those that show datasets.
    Volumes showing(ClaimedDatasets datasets, SnapshotDatasets snapshots) {
        return new Volumes(parts, placement, datasets, snapshots);
    }

    /// Returns the ledger that enforces every account's allowance.
    public AllowanceLedger ledger() {
        return parts.ledger();
    }

    SnapshotCharges snapshotCharges() {
        return charges;
    }

    SubvolumeInventory inventory() {
        return parts.inventory();
    }

    /// Refuses to create anything for a frozen account.
    void checkNotFrozen(SubvolumeGroup group) {
        parts.accountFreeze().check(group);
    }

    VolumePlacement placement() {
        return placement;
    }

    /// Creates a volume, or finds the one of an earlier try (CSI v1.13, CreateVolume).
    ///
    /// After a refusal with a final code, nothing is left but the account's group.
    ///
    /// The id of a volume that shows a dataset names the dataset too. So a second request of that name for another
    /// dataset gets a second volume, not ALREADY_EXISTS.
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
    /// @throws DriverException whatever [Owners#of] throws, or, for a dataset, [ClaimedDatasets] and
    ///     [SnapshotDatasets]
    public Volume create(VolumeRequest request) {
        Optional<Volume> shown = request.mayShowDataset() ? dataset.create(request) : Optional.empty();
        return shown.orElseGet(() -> createStored(request));
    }

    private Volume createStored(VolumeRequest request) {
        VolumePlacement.OwnedGroup place = placement.choose(request.parameters());
        VolumeId.Provisioned any = place.group().volume(CephNames.plain(place.group(), request.name()));
        return parts.operations().run(key(any), () -> {
            // another process may have made the group to freeze the account, so the inventory's word does not count
            parts.accountFreeze().check(place.group());
            return requested(place, request).create(place, request);
        });
    }

    /// Returns the kind of a volume that is to have a subvolume.
    private StoredKind requested(VolumePlacement.OwnedGroup place, VolumeRequest request) {
        if (request.parameters().home()) {
            return home;
        }
        if (request.source().isEmpty()) {
            return plain;
        }
        ContentSource source = request.source().get();
        VolumeId.Provisioned from = snapshottable("volume_content_source", source.volume());
        if (!from.cluster().equals(place.group().cluster())
                || !from.fileSystem().equals(place.group().fileSystem())) {
            throw new DriverException.InvalidRequest(
                    "volume_content_source " + from + " is in another file system than the volumes of this class");
        }
        return SnapshotBackedKind.isMeant(place, request, source) ? snapshotBacked : filled;
    }

    /// A volume and its kind.
    private record Known<I extends VolumeId>(VolumeKind<I> kind, I id) {
        Volume get() {
            return kind.get(id);
        }

        void delete(String home) {
            kind.delete(id, home);
        }

        long expand(CapacityRange range) {
            return kind.expand(id, range);
        }

        void modify(MutableParameters changes) {
            kind.modify(id, changes);
        }

        VolumeId.Provisioned snapshottable(String field) {
            return kind.snapshottable(field, id);
        }

        void checkMode(ClaimAccessMode mode) {
            kind.checkMode(id, mode);
        }
    }

    private Known<?> known(VolumeId id) {
        return switch (id) {
            case VolumeId.Static volume -> new Known<>(fixed, volume);
            case VolumeId.DatasetVolume volume -> new Known<>(dataset, volume);
            case VolumeId.Provisioned volume -> new Known<>(stored(volume), volume);
        };
    }

    private StoredKind stored(VolumeId.Provisioned volume) {
        return switch (CephNames.kindOf(volume.subvolume()).orElse(CephNames.Kind.PLAIN)) {
            case PLAIN -> plain;
            case FILLED -> filled;
            case SHALLOW -> snapshotBacked;
            case ALIAS, HOME -> home;
        };
    }

    /// Returns the lock key of a volume, the same for all kinds of volumes that one name can mean.
    static String key(VolumeId id) {
        return switch (id) {
            case VolumeId.WithPath withPath -> withPath.toString();
            case VolumeId.Provisioned volume ->
                "volume " + SubvolumeGroup.of(volume) + " name " + CephNames.common(volume.subvolume());
        };
    }

    /// Returns the lock key of a snapshot: exclusive to create or remove it, shared to use it.
    static String key(SnapshotId id) {
        return "snapshot " + id.volume().cluster() + ":" + id.volume().fileSystem() + ":" + id.name();
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
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it is static or a dataset without a claim, even if it
    ///     does not exist; if it is a home; or if its cluster is unknown
    public void delete(VolumeId id) {
        delete(id, "");
    }

    /// As [#delete], for a home or the alias of a home with its home: the files go too. A refusal changes neither.
    ///
    /// @param home the home's id, from the secret [Homes#DELETE]; another id, or an empty one, removes no home
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the volume is `home`, has a subvolume, and
    ///     is no home
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the home has another alias
    public void delete(VolumeId id, String home) {
        known(id).delete(home);
    }

    /// Returns what is known of a volume (CSI v1.13, ControllerGetVolume).
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if there is none
    public Volume get(VolumeId id) {
        return known(id).get();
    }

    /// Refuses an access mode that the volume cannot have.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the mode writes, and nobody can
    public void checkMode(VolumeId id, ClaimAccessMode mode) {
        known(id).checkMode(mode);
    }

    /// Grows a volume to at least the size that `range` requires, and never shrinks it (CSI v1.13,
    /// ControllerExpandVolume). For an alias, the home grows.
    ///
    /// @return its size now, in bytes
    /// @throws DriverException.NotFound (NOT_FOUND) if there is none; never for a dataset
    /// @throws DriverException.CapacityOutOfRange (OUT_OF_RANGE) if it already exceeds the range's limit, or is
    ///     backed by a snapshot and would have to grow
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the account is frozen, or the volume is a dataset,
    ///     static without a quota, or static inside a Siphon group
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if that does not fit the account's allowance
    public long expand(VolumeId id, CapacityRange range) {
        return parts.operations().run(key(id), () -> known(id).expand(range));
    }

    /// Changes the mutable parameters of a volume (CSI v1.13, ControllerModifyVolume).
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if there is no such volume
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is backed by a snapshot, is a dataset, or is
    ///     an alias of a home that others use too
    public void modify(VolumeId id, MutableParameters changes) {
        parts.operations().run(key(id), () -> {
            known(id).modify(changes);
        });
    }

    /// Returns the volume, if a snapshot of it would hold its contents.
    ///
    /// @param field the request's field, for the message
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it would not
    VolumeId.Provisioned snapshottable(String field, VolumeId id) {
        return known(id).snapshottable(field);
    }

    /// Returns the subvolume of a usable volume.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if there is none
    /// @throws DriverException.OperationPending (ABORTED) if a clone still fills it
    Subvolumes.Subvolume live(VolumeId.Provisioned volume) {
        return stored(volume).live(volume);
    }

    /// Returns whether a subvolume is a complete volume; one that is being filled is not.
    boolean isWhole(VolumeId.Provisioned volume, Subvolumes.Subvolume found) {
        return stored(volume).isWhole(volume, found);
    }

    /// Returns the volumes that may be backed by a snapshot.
    List<VolumeId.Provisioned> standingFor(SnapshotId snapshot) {
        return parts.inventory()
                .matching(
                        SubvolumeGroup.of(snapshot.volume()),
                        CephNames.shallowPrefix(),
                        CephNames.shallowSuffix(snapshot));
    }

    /// Returns whether a copy of the snapshot is filling a volume.
    boolean isCopied(SnapshotId snapshot) {
        return parts.populator().reads(snapshot);
    }

    /// Returns the size that a snapshot's volume had.
    OptionalLong sizeOf(SnapshotId snapshot) {
        return parts.populator().sizeOf(snapshot);
    }

    /// Returns when a snapshot was taken.
    Instant takenAt(SnapshotId snapshot) {
        return parts.populator().takenAt(snapshot);
    }

    /// Returns the quota of a volume whose path is in its id; empty if it has none.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if its path does not exist
    OptionalLong quotaBytes(VolumeId.WithPath withPath) {
        return StaticKind.quotaBytes(parts.ports().files(), withPath);
    }

    /// A volume as callers see it.
    ///
    /// @param capacityBytes its size; 0 for no limit or unknown
    /// @param context what a node needs; empty in listings
    /// @param source the source of its contents; empty for none or unknown
    public record Volume(
            VolumeId id, long capacityBytes, Optional<VolumeContext> context, Optional<ContentSource> source) {}
}
