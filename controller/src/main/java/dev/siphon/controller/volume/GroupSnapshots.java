package dev.siphon.controller.volume;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Snapshots of several volumes at one moment, where the cluster can stop writes for it (`fs quiesce`); else one
/// after
/// the other.
public final class GroupSnapshots {
    private static final Logger LOG = LoggerFactory.getLogger(GroupSnapshots.class);

    /// How long clients may take to stop writing.
    private static final Duration QUIESCE_TIMEOUT = Duration.ofSeconds(10);

    /// After this long writes go on by themselves, should the controller die meanwhile.
    private static final Duration QUIESCE_EXPIRATION = Duration.ofSeconds(30);

    private final Subvolumes subvolumes;
    private final Quiesce quiesce;
    private final Snapshots snapshots;
    private final KeyedOperations operations;

    public GroupSnapshots(CephPorts ports, Snapshots snapshots, KeyedOperations operations) {
        this.subvolumes = ports.subvolumes();
        this.quiesce = ports.quiesce();
        this.snapshots = snapshots;
        this.operations = operations;
    }

    /// A group of snapshots as callers see it.
    public record View(GroupSnapshotId id, List<SnapshotView> snapshots) {
        public View {
            snapshots = List.copyOf(snapshots);
        }
    }

    /// Takes a snapshot of every volume, or finds those that an earlier try took (CSI v1.13,
    /// CreateVolumeGroupSnapshot). If one cannot be taken, those taken by this call are removed.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the volumes are not all of one file system
    /// @throws DriverException.NotFound (NOT_FOUND) if a volume does not exist
    public View create(String name, List<VolumeId> sources) {
        List<VolumeId.Provisioned> members =
                sources.stream().map(Snapshots::snapshottable).distinct().toList();
        VolumeId.Provisioned first = members.getFirst();
        members.stream()
                .filter(each -> !each.cluster().equals(first.cluster())
                        || !each.fileSystem().equals(first.fileSystem()))
                .findFirst()
                .ifPresent(other -> {
                    throw new DriverException.InvalidRequest("source_volume_ids: " + first + " and " + other
                            + " are in different file systems, which cannot be snapshotted together");
                });
        GroupSnapshotId group = new GroupSnapshotId(first.cluster(), first.fileSystem(), Names.groupSnapshot(name));
        return operations.run(group.toString(), () -> take(group, members));
    }

    private View take(GroupSnapshotId group, List<VolumeId.Provisioned> members) {
        List<SnapshotId> ids = members.stream()
                .map(member -> new SnapshotId(member, group.snapshot()))
                .toList();
        List<SnapshotId> missing =
                ids.stream().filter(id -> subvolumes.findSnapshot(id).isEmpty()).toList();
        if (missing.size() == ids.size()) {
            takeAtOnce(group, members, missing);
        } else if (!missing.isEmpty()) {
            // what an earlier try left is of another moment than what is still missing
            ids.forEach(subvolumes::removeSnapshot);
            takeAtOnce(group, members, ids);
        }
        return new View(group, ids.stream().map(snapshots::take).toList());
    }

    private void takeAtOnce(GroupSnapshotId group, List<VolumeId.Provisioned> members, List<SnapshotId> ids) {
        boolean quiet = quiesce.acquire(group.snapshot(), members, QUIESCE_TIMEOUT, QUIESCE_EXPIRATION);
        List<SnapshotId> taken = new ArrayList<>();
        boolean whole = false;
        try {
            for (SnapshotId id : ids) {
                taken.add(id);
                subvolumes.createSnapshot(id);
            }
            whole = !quiet || quiesce.release(group.snapshot(), members);
            quiet = false;
            if (!whole) {
                throw new DriverException.OperationPending(
                        "writes went on before every snapshot of " + group + " was taken; retry");
            }
        } finally {
            if (!whole) {
                undo(group, members, taken, quiet);
            }
        }
    }

    /// After a failure; one of its own is logged, since the first is what the caller has to know.
    private void undo(
            GroupSnapshotId group, List<VolumeId.Provisioned> members, List<SnapshotId> taken, boolean quiet) {
        try {
            if (quiet) {
                quiesce.release(group.snapshot(), members);
            }
            taken.forEach(subvolumes::removeSnapshot);
        } catch (DriverException also) {
            LOG.atWarn()
                    .addKeyValue("group_snapshot_id", group)
                    .setCause(also)
                    .log("snapshots of a group that failed are left; a retry removes them");
        }
    }

    /// Removes the snapshots of a group; those that are not there are no error (CSI v1.13,
    /// DeleteVolumeGroupSnapshot).
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if a snapshot is not of this group
    public void delete(GroupSnapshotId group, List<SnapshotId> ids) {
        checkMembers(group, ids);
        operations.run(group.toString(), () -> ids.forEach(snapshots::remove));
    }

    /// The group with these snapshots (CSI v1.13, GetVolumeGroupSnapshot).
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if one of them does not exist
    public View get(GroupSnapshotId group, List<SnapshotId> ids) {
        checkMembers(group, ids);
        return new View(
                group,
                ids.stream()
                        .map(id -> snapshots
                                .find(id)
                                .orElseThrow(() -> new DriverException.NotFound(
                                        "snapshot " + id + " of " + group + " does not exist")))
                        .toList());
    }

    private static void checkMembers(GroupSnapshotId group, List<SnapshotId> ids) {
        Optional<SnapshotId> stranger =
                ids.stream().filter(id -> !group.has(id)).findFirst();
        if (stranger.isPresent()) {
            throw new DriverException.InvalidRequest(
                    "snapshot_ids: " + stranger.get() + " is not of the group of snapshots " + group);
        }
    }
}
