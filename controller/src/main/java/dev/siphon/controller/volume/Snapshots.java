package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Subvolumes.Snapshot;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

/// Snapshots of volumes. They outlive their volume: Ceph retains what a removed subvolume's snapshots need.
public final class Snapshots {
    private final Subvolumes subvolumes;
    private final Volumes volumes;
    private final KeyedOperations operations;

    /// Which volume a snapshot name was used for since this controller started: a name is for one volume only.
    private final Map<NameInFileSystem, VolumeId.Provisioned> sources = new ConcurrentHashMap<>();

    private record NameInFileSystem(String cluster, String fileSystem, String snapshot) {}

    public Snapshots(CephPorts ports, Volumes volumes, KeyedOperations operations) {
        this.subvolumes = ports.subvolumes();
        this.volumes = volumes;
        this.operations = operations;
    }

    /// Takes a snapshot called `name`, or finds the one that an earlier try took (CSI v1.13, CreateSnapshot). Ready
    /// to use
    /// at once.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the volume does not exist
    /// @throws DriverException.IncompatibleExisting (ALREADY_EXISTS) if the name was used for another volume
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if the volume has as many as Ceph allows
    public SnapshotView create(VolumeId source, String name) {
        VolumeId.Provisioned volume = snapshottable(source);
        SnapshotId id = new SnapshotId(volume, Names.snapshot(name));
        NameInFileSystem key = new NameInFileSystem(volume.cluster(), volume.fileSystem(), id.name());
        return operations.run(key(id), () -> {
            VolumeId.Provisioned used = sources.getOrDefault(key, volume);
            if (!used.equals(volume)) {
                throw new DriverException.IncompatibleExisting(
                        "snapshot " + name + " exists, of volume " + used + ", not of " + volume);
            }
            SnapshotView taken = take(id);
            sources.put(key, volume);
            return taken;
        });
    }

    /// Takes the snapshot `id`; a retry finds it.
    SnapshotView take(SnapshotId id) {
        OptionalLong size = volumes.live(id.volume()).quotaBytes();
        subvolumes.createSnapshot(id);
        Snapshot snapshot = subvolumes
                .findSnapshot(id)
                .orElseThrow(() -> new DriverException.BackendUnavailable(
                        "snapshot " + id + " was taken and is not there now; retry"));
        return new SnapshotView(id, size, snapshot.createdAt(), GroupSnapshotId.of(id));
    }

    /// Removes a snapshot; one that is not there is no error (CSI v1.13, DeleteSnapshot).
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a volume needs it
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it belongs to a group of snapshots
    public void delete(SnapshotId id) {
        if (Names.isGroupSnapshot(id.name())) {
            throw new DriverException.InvalidRequest("snapshot " + id
                    + " belongs to a group of snapshots and is deleted with it, by DeleteVolumeGroupSnapshot");
        }
        operations.run(key(id), () -> remove(id));
    }

    /// Removes the snapshot unless a volume needs it: the names of volumes that stand for it tell.
    void remove(SnapshotId id) {
        for (VolumeId.Provisioned shallow : volumes.standingFor(id)) {
            if (subvolumes.find(shallow).isPresent()) {
                throw new DriverException.InUse(
                        "snapshot " + id + " is what volume " + shallow + " shows; delete that volume first");
            }
        }
        if (volumes.isCopied(id)) {
            throw new DriverException.InUse(
                    "snapshot " + id + " is being copied into a volume; retry when that is whole");
        }
        subvolumes.removeSnapshot(id);
        sources.remove(new NameInFileSystem(id.volume().cluster(), id.volume().fileSystem(), id.name()), id.volume());
    }

    /// The snapshot; empty if there is none.
    public Optional<SnapshotView> find(SnapshotId id) {
        return subvolumes
                .findSnapshot(id)
                .map(found -> new SnapshotView(id, volumes.sizeOf(id), found.createdAt(), GroupSnapshotId.of(id)));
    }

    static String key(SnapshotId id) {
        return "snapshot " + id.volume().cluster() + ":" + id.volume().fileSystem() + ":" + id.name();
    }

    static VolumeId.Provisioned snapshottable(VolumeId source) {
        return switch (source) {
            case VolumeId.Static fixed ->
                throw new DriverException.InvalidRequest(
                        "source_volume_id " + fixed + " is a static volume, whose path the mgr cannot snapshot");
            case VolumeId.Provisioned shallow
            when Volumes.isShallow(shallow) ->
                throw new DriverException.InvalidRequest(
                        "source_volume_id " + shallow + " is itself a snapshot; use that one");
            case VolumeId.Provisioned volume -> volume;
        };
    }
}
