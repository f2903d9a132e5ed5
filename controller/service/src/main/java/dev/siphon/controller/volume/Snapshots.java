package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// Takes, finds and deletes snapshots of volumes. They outlive their volume: Ceph retains what they need of it.
public final class Snapshots {
    private final Subvolumes subvolumes;
    private final FileTree files;
    private final Volumes volumes;
    private final KeyedOperations operations;

    /// The volume that each snapshot name was used for since this controller started; a name is for one volume
    /// only.
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

    /// Takes a snapshot called `name`, or finds the one of an earlier try (CSI v1.13, CreateSnapshot). It is ready
    /// at once, unless it is to be sealed.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the volume cannot be snapshotted
    /// @throws DriverException.NotFound (NOT_FOUND) if the volume does not exist
    /// @throws DriverException.IncompatibleExisting (ALREADY_EXISTS) if the name was used for another volume
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the account is frozen
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if the volume has as many snapshots as Ceph
    ///     allows, or the contents do not fit the account's allowance
    public SnapshotView create(VolumeId source, String name) {
        return create(
                name, new SnapshotId(volumes.snapshottable("source_volume_id", source), CephNames.snapshot(name)));
    }

    /// Returns the id of the snapshot that [#createToSeal] takes, whether it exists or not.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the volume cannot be snapshotted
    public SnapshotId toSeal(VolumeId source, String name, SnapshotClass.Modes modes) {
        return new SnapshotId(volumes.snapshottable("source_volume_id", source), CephNames.sealedSnapshot(name, modes));
    }

    /// As [#create], for a snapshot that is to become a sealed dataset.
    ///
    /// @param id from [#toSeal]
    public SnapshotView createToSeal(SnapshotId id, String name) {
        return create(name, id);
    }

    private SnapshotView create(String name, SnapshotId id) {
        VolumeId.Provisioned volume = id.volume();
        return operations.run(Volumes.key(id), () -> {
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
            // an earlier try may have taken it before the volume was removed
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
            return find(id).orElseThrow(() ->
                    new DriverException.BackendUnavailable("snapshot " + id + " was taken but is missing now; retry"));
        } catch (DriverException refused) {
            throw Refusal.isFinal(refused) ? settled(id, refused) : refused;
        }
    }

    /// Handles a final refusal. An existing snapshot may be from this request or an earlier one, so it stays and
    /// the caller is told to retry.
    ///
    /// @return the exception to throw
    private DriverException settled(SnapshotId id, DriverException refused) {
        try {
            return subvolumes.findSnapshot(id).isEmpty()
                    ? refused
                    : Refusal.again("snapshot " + id + " is taken", refused);
        } catch (DriverException.NotFound volumeGone) {
            return refused;
        } catch (DriverException unknown) {
            unknown.addSuppressed(refused);
            return Refusal.again("it is unknown whether snapshot " + id + " was taken", unknown);
        }
    }

    /// Returns the snapshot; empty if there is none.
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

    /// Deletes a snapshot; a missing one is no error (CSI v1.13, DeleteSnapshot).
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a volume needs it, or it is being copied
    /// @throws DriverException.OperationPending (ABORTED) if it is being cloned
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it belongs to a group snapshot
    public void delete(SnapshotId id) {
        if (CephNames.isGroupSnapshot(id.name())) {
            throw new DriverException.InvalidRequest("snapshot_id " + id
                    + " belongs to a group of snapshots and is deleted with it, by DeleteVolumeGroupSnapshot");
        }
        operations.run(Volumes.key(id), () -> {
            checkNotNeeded(id);
            volumes.snapshotCharges().remove(id);
            sources.remove(NameInFileSystem.of(id), id.volume());
        });
    }

    /// Refuses to remove a snapshot that a volume needs; the names of snapshot-backed volumes show which one they
    /// need.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a volume needs it, or it is being copied
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
                    "snapshot " + id + " is being copied into a volume; retry when the copy is complete");
        }
    }

    /// As [#checkNotNeeded], and also checks for a running clone: the mgr's own refusal would come too late.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a volume needs it, or it is being copied
    /// @throws DriverException.OperationPending (ABORTED) if it is being cloned
    void checkRemovable(SnapshotId id) {
        checkNotNeeded(id);
        checkNotCloned(id);
    }

    /// Refuses to remove a snapshot from which a volume is being filled.
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
                    "snapshot " + id + " is being cloned into a volume; retry when the clone is complete");
        }
    }

    /// Returns the account that owns the snapshot: the one in its group's note, if the account directory confirms
    /// that the group is still that account's. A name may have been given to another account.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the directory does not confirm it, or no name was
    ///     recorded
    /// @throws DriverException whatever [VolumePlacement#choose] throws
    public String owner(SnapshotId id) {
        SubvolumeGroup group = SubvolumeGroup.of(id.volume());
        String name = files.note(group.cluster(), group.fileSystem(), group.path(), AccountNote.NAME)
                .flatMap(AccountNote::parse)
                .map(AccountNote::name)
                .orElseThrow(() -> new DriverException.InUse("the owner of " + group
                        + " is not recorded yet: the controller does that within minutes; retry"));
        VolumePlacement.OwnedGroup place =
                volumes.placement().choose(ClassParameters.ofSnapshot(group.cluster(), group.fileSystem(), name));
        if (!place.group().equals(group)) {
            throw new DriverException.InUse(
                    "account " + name + " in the directory is not the account that owns " + group);
        }
        return name;
    }

    /// Reserves the estimated size of a snapshot's image before it is made. Idempotent.
    ///
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if it does not fit the account's allowance
    public void reserveImage(SnapshotView snapshot) {
        volumes.snapshotCharges().reserveImage(snapshot.id(), snapshot.sizeBytes());
    }

    /// Counts the image of a snapshot against the account's allowance, with its real size.
    public void countImage(SnapshotId id, long bytes) {
        volumes.snapshotCharges().countImage(id, bytes);
    }
}
