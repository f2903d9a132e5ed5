package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// Snapshots of volumes. They outlive their volume: Ceph retains what a removed subvolume's snapshots need.
public final class Snapshots {
    private final Subvolumes subvolumes;
    private final FileTree files;
    private final Volumes volumes;
    private final KeyedOperations operations;

    /// Which volume a snapshot name was used for since this controller started: a name is for one volume only.
    private final Map<NameInFileSystem, VolumeId.Provisioned> sources = new ConcurrentHashMap<>();

    private record NameInFileSystem(String cluster, String fileSystem, String snapshot) {
        static NameInFileSystem of(SnapshotId id) {
            return new NameInFileSystem(id.volume().cluster(), id.volume().fileSystem(), id.name());
        }
    }

    public Snapshots(CephPorts ports, Volumes volumes, KeyedOperations operations) {
        this.subvolumes = ports.subvolumes();
        this.files = ports.files();
        this.volumes = volumes;
        this.operations = operations;
    }

    /// Whether callers may know of the snapshot: those that live while a volume is filled are nobody else's.
    public static boolean isForCallers(SnapshotId id) {
        return !CephNames.isTransferSnapshot(id.name());
    }

    /// Takes a snapshot called `name`, or finds the one that an earlier try took (CSI v1.13, CreateSnapshot).
    /// Ready to use at once, but for what is to be sealed.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the volume does not exist
    /// @throws DriverException.IncompatibleExisting (ALREADY_EXISTS) if the name was used for another volume
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if the volume has as many as Ceph allows, or
    ///     what it holds does not fit the account's allowance
    public SnapshotView create(VolumeId source, String name) {
        return create(name, new SnapshotId(snapshottable("source_volume_id", source), CephNames.snapshot(name)));
    }

    /// What [#createToSeal] takes, whether it is there or not.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if no snapshot can be taken of the volume
    public static SnapshotId toSeal(VolumeId source, String name, SnapshotClass.Modes modes) {
        return new SnapshotId(snapshottable("source_volume_id", source), CephNames.sealedSnapshot(name, modes));
    }

    /// As [#create], of what is to become a sealed dataset.
    ///
    /// @param id as [#toSeal] gives it
    public SnapshotView createToSeal(SnapshotId id, String name) {
        return create(name, id);
    }

    private SnapshotView create(String name, SnapshotId id) {
        VolumeId.Provisioned volume = id.volume();
        return operations.run(key(id), () -> {
            VolumeId.Provisioned used = sources.getOrDefault(NameInFileSystem.of(id), volume);
            if (!used.equals(volume)) {
                throw new DriverException.IncompatibleExisting(
                        "snapshot " + name + " exists, of volume " + used + ", not of " + volume);
            }
            SnapshotView taken = take(id);
            sources.put(NameInFileSystem.of(id), volume);
            return taken;
        });
    }

    private SnapshotView take(SnapshotId id) {
        Optional<Subvolume> volume = subvolumes.find(id.volume());
        if (volume.filter(found -> found.state() == Subvolume.State.READY).isEmpty()) {
            // an earlier try may have taken it, and the volume be gone since
            return find(id).orElseThrow(
                            () -> new DriverException.NotFound("volume " + id.volume() + " does not exist"));
        }
        try {
            volumes.checkNotFrozen(SubvolumeGroup.of(id.volume()));
        } catch (DriverException.InUse frozen) {
            return find(id).orElseThrow(() -> frozen);
        }
        try {
            volumes.snapshotCharges().take(id, volume.get().quotaBytes());
            return find(id).orElseThrow(() -> new DriverException.BackendUnavailable(
                    "snapshot " + id + " was taken and is not there now; retry"));
        } catch (DriverException refused) {
            throw Refusal.isFinal(refused) ? settled(id, refused) : refused;
        }
    }

    /// Whether this request or an earlier one took a snapshot that is there nobody knows, so it stays, and its
    /// caller is told to retry.
    ///
    /// @return what to answer to a request that was refused for good
    private DriverException settled(SnapshotId id, DriverException refused) {
        try {
            return subvolumes.findSnapshot(id).isEmpty()
                    ? refused
                    : Refusal.again("snapshot " + id + " is taken", refused);
        } catch (DriverException.NotFound volumeGone) {
            return refused;
        } catch (DriverException unknown) {
            unknown.addSuppressed(refused);
            return Refusal.again("whether snapshot " + id + " is taken is not known", unknown);
        }
    }

    /// The snapshot; empty if there is none.
    public Optional<SnapshotView> find(SnapshotId id) {
        try {
            return subvolumes
                    .findSnapshot(id)
                    .map(_ -> new SnapshotView(
                            id,
                            volumes.sizeOf(id),
                            volumes.takenAt(id),
                            GroupSnapshotId.of(id),
                            !DatasetPlace.isOf(id) || DatasetPlace.isSealed(files, id)));
        } catch (DriverException.NotFound goneMeanwhile) {
            return Optional.empty();
        }
    }

    /// Removes a snapshot; one that is not there is no error (CSI v1.13, DeleteSnapshot).
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a volume needs it
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it belongs to a group of snapshots
    public void delete(SnapshotId id) {
        if (CephNames.isGroupSnapshot(id.name())) {
            throw new DriverException.InvalidRequest("snapshot_id " + id
                    + " belongs to a group of snapshots and is deleted with it, by DeleteVolumeGroupSnapshot");
        }
        operations.run(key(id), () -> {
            checkNotNeeded(id);
            volumes.snapshotCharges().remove(id);
            sources.remove(NameInFileSystem.of(id), id.volume());
        });
    }

    /// Refuses to remove what a volume needs: the names of volumes that stand for a snapshot tell.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a volume needs it
    void checkNotNeeded(SnapshotId id) {
        for (VolumeId.Provisioned shallow : volumes.standingFor(id)) {
            if (subvolumes.find(shallow).isPresent()) {
                throw new DriverException.InUse(
                        "snapshot " + id + " is needed by volume " + shallow + "; delete that volume first");
            }
        }
        checkNotCopied(id);
    }

    private void checkNotCopied(SnapshotId id) {
        if (volumes.isCopied(id)) {
            throw new DriverException.InUse(
                    "snapshot " + id + " is being copied into a volume; retry when that is whole");
        }
    }

    /// As [#checkNotNeeded], and asks whether a clone runs, where the mgr's refusal to remove what is being
    /// cloned would come too late.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a volume needs it
    /// @throws DriverException.OperationPending (ABORTED) if it is being cloned
    void checkRemovable(SnapshotId id) {
        checkNotNeeded(id);
        checkNotCloned(id);
    }

    /// Refuses to remove what a volume is being filled from.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it is being copied
    /// @throws DriverException.OperationPending (ABORTED) if it is being cloned
    public void checkNotCloned(SnapshotId id) {
        checkNotCopied(id);
        if (subvolumes
                .findSnapshot(id)
                .filter(found -> !found.pendingClones().isEmpty())
                .isPresent()) {
            throw new DriverException.OperationPending(
                    "snapshot " + id + " is being cloned into a volume; retry when that is whole");
        }
    }

    /// The account whose snapshot it is: whom its group's note names, if the directory knows that one as the
    /// same. A name may have been given to somebody else.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it does not, or nobody has written a name down
    /// @throws DriverException whatever [VolumePlacement#choose] throws
    public String owner(SnapshotId id) {
        SubvolumeGroup group = SubvolumeGroup.of(id.volume());
        String name = files.note(group.cluster(), group.fileSystem(), group.path(), AccountNote.NAME)
                .flatMap(AccountNote::parse)
                .map(AccountNote::name)
                .orElseThrow(() -> new DriverException.InUse("nobody has written down whose " + group
                        + " is: the controller does so within minutes; retry"));
        VolumePlacement.OwnedGroup place =
                volumes.placement().choose(ClassParameters.ofSnapshot(group.cluster(), group.fileSystem(), name));
        if (!place.group().equals(group)) {
            throw new DriverException.InUse("account " + name + " is another one than that whose " + group + " is");
        }
        return name;
    }

    /// Reserves what an image of a snapshot will take about, before it is made. Repeating it is safe.
    ///
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if that does not fit the account's allowance
    public void reserveImage(SnapshotView snapshot) {
        volumes.snapshotCharges().reserveImage(snapshot.id(), snapshot.sizeBytes());
    }

    /// Counts the image of a snapshot against the account's allowance, with what it is.
    public void countImage(SnapshotId id, long bytes) {
        volumes.snapshotCharges().countImage(id, bytes);
    }

    /// The key of operations on a snapshot: alone to make or remove it, shared to use it.
    static String key(SnapshotId id) {
        return "snapshot " + id.volume().cluster() + ":" + id.volume().fileSystem() + ":" + id.name();
    }

    /// The volume, if a snapshot of it would hold its contents.
    ///
    /// @param field that names it, for the message
    static VolumeId.Provisioned snapshottable(String field, VolumeId source) {
        return switch (source) {
            case VolumeId.ByHand fixed ->
                throw new DriverException.InvalidRequest(
                        field + " " + fixed + " is a static volume, whose path the mgr cannot snapshot");
            case VolumeId.Provisioned shallow
            when Volumes.isReadOnly(shallow) ->
                throw new DriverException.InvalidRequest(field + " " + shallow + " is itself a snapshot; use that one");
            case VolumeId.Provisioned door
            when Homes.isDoor(door) ->
                throw new DriverException.InvalidRequest(field + " " + door + " is a home that others use too; an"
                        + " administrator may take snapshots of the home itself, " + Homes.behind(door));
            case VolumeId.Provisioned volume -> volume;
        };
    }
}
