package dev.siphon.controller.volume;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

/// Takes snapshots of several volumes at one moment, if the cluster can stop writes for it (`fs quiesce`), else one
/// after the other. A retry retakes a partial group, because its snapshots are of another moment.
public final class GroupSnapshots {
    /// How long clients may take to stop writing.
    private static final Duration QUIESCE_TIMEOUT = Duration.ofSeconds(10);

    /// Writes resume by themselves after this time, in case the controller dies.
    private static final Duration QUIESCE_EXPIRATION = Duration.ofSeconds(30);

    private final Subvolumes subvolumes;
    private final Quiesce quiesce;
    private final Volumes volumes;
    private final Snapshots snapshots;
    private final SnapshotCharges charges;
    private final KeyedOperations operations;

    /// The group that each name was used for since this controller started.
    private final Map<String, GroupSnapshotId> names = new ConcurrentHashMap<>();

    public GroupSnapshots(CephPorts ports, Volumes volumes, Snapshots snapshots, KeyedOperations operations) {
        this.subvolumes = ports.subvolumes();
        this.quiesce = ports.quiesce();
        this.volumes = volumes;
        this.snapshots = snapshots;
        this.charges = volumes.snapshotCharges();
        this.operations = operations;
    }

    /// A group snapshot as callers see it.
    public record View(GroupSnapshotId id, List<SnapshotView> snapshots) {
        public View {
            snapshots = List.copyOf(snapshots);
        }
    }

    /// Takes a snapshot of every volume, or finds those of an earlier try (CSI v1.13, CreateVolumeGroupSnapshot).
    /// If one cannot be taken, removes those that this call took.
    ///
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if their contents do not fit the account's
    ///     allowance
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the volumes are in several file systems, an account
    ///     is frozen, or a volume needs a snapshot from an earlier try
    /// @throws DriverException.OperationPending (ABORTED) if such a snapshot is being cloned, or writes resumed too
    ///     early
    /// @throws DriverException.NotFound (NOT_FOUND) if a volume does not exist
    /// @throws DriverException.IncompatibleExisting (ALREADY_EXISTS) if the name was used for other volumes
    public View create(String name, List<VolumeId> sources) {
        List<VolumeId.Provisioned> members = sources.stream()
                .map(source -> volumes.snapshottable("source_volume_ids", source))
                .distinct()
                .sorted(Comparator.comparing(VolumeId.Provisioned::toString))
                .toList();
        VolumeId.Provisioned first = members.getFirst();
        members.stream()
                .filter(each -> !each.cluster().equals(first.cluster())
                        || !each.fileSystem().equals(first.fileSystem()))
                .findFirst()
                .ifPresent(other -> {
                    throw new DriverException.InUse("source_volume_ids: " + first + " and " + other
                            + " are in different file systems, which cannot be snapshotted together");
                });
        GroupSnapshotId group =
                new GroupSnapshotId(first.cluster(), first.fileSystem(), CephNames.groupSnapshot(name, members));
        return operations.run("group snapshot " + name, () -> {
            if (!names.getOrDefault(name, group).equals(group)) {
                throw new DriverException.IncompatibleExisting(
                        "group snapshot " + name + " exists as " + names.get(name) + ", of other volumes");
            }
            View taken = operations.run(key(group, members), () -> take(group, members));
            names.put(name, group);
            return taken;
        });
    }

    private View take(GroupSnapshotId group, List<VolumeId.Provisioned> members) {
        List<SnapshotId> ids = members.stream()
                .map(member -> new SnapshotId(member, group.snapshot()))
                .toList();
        List<SnapshotView> found =
                ids.stream().flatMap(id -> snapshots.find(id).stream()).toList();
        if (found.size() == ids.size()) {
            return new View(group, found);
        }
        // no caller knows of a partial group, so it is removed first, even if the rest is refused
        List<SnapshotId> left = found.stream().map(SnapshotView::id).toList();
        left.forEach(snapshots::checkRemovable);
        left.forEach(charges::remove);
        Map<SnapshotId, OptionalLong> sizes = new LinkedHashMap<>();
        ids.forEach(id -> sizes.put(id, volumes.live(id.volume()).quotaBytes()));
        members.stream().map(SubvolumeGroup::of).distinct().forEach(volumes::checkNotFrozen);
        boolean quiet = quiesce.acquire(group.snapshot(), members, QUIESCE_TIMEOUT, QUIESCE_EXPIRATION);
        Map<SnapshotId, OptionalLong> taken = new LinkedHashMap<>();
        try {
            takeAtOnce(group, members, sizes, taken, quiet);
            return new View(
                    group,
                    ids.stream()
                            .map(id -> snapshots
                                    .find(id)
                                    .orElseThrow(() -> new DriverException.BackendUnavailable(
                                            "snapshot " + id + " was taken but is missing now; retry")))
                            .toList());
        } catch (RuntimeException refused) {
            throw undone(group, taken, refused);
        }
    }

    /// @param taken receives each snapshot before it is taken
    private void takeAtOnce(
            GroupSnapshotId group,
            List<VolumeId.Provisioned> members,
            Map<SnapshotId, OptionalLong> sizes,
            Map<SnapshotId, OptionalLong> taken,
            boolean quiet) {
        boolean atOnce = false;
        try {
            sizes.forEach((id, size) -> {
                taken.put(id, size);
                subvolumes.createSnapshot(id);
            });
        } finally {
            atOnce = !quiet || quiesce.release(group.snapshot(), members);
        }
        if (!atOnce) {
            throw new DriverException.OperationPending(
                    "clients wrote again before every snapshot of " + group + " was taken; retry");
        }
        sizes.forEach(charges::count);
    }

    /// Removes the snapshots of a refused request.
    ///
    /// @return the exception to throw; it asks for a retry if snapshots may be left
    private RuntimeException undone(
            GroupSnapshotId group, Map<SnapshotId, OptionalLong> taken, RuntimeException refused) {
        try {
            taken.keySet().forEach(charges::remove);
            return refused;
        } catch (DriverException also) {
            taken.forEach(charges::markUncertain);
            also.addSuppressed(refused);
            return Refusal.again("snapshots of " + group + " may remain", also);
        }
    }

    /// Deletes the snapshots of a group; missing ones are no error (CSI v1.13, DeleteVolumeGroupSnapshot). If one
    /// must not be deleted, all stay.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a volume needs one of them, or one is being copied
    /// @throws DriverException.OperationPending (ABORTED) if one of them is being cloned
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `ids` are not the snapshots of this group
    public void delete(GroupSnapshotId group, List<SnapshotId> ids) {
        List<VolumeId.Provisioned> members = checkMembers(group, ids);
        operations.run(key(group, members), () -> {
            ids.forEach(snapshots::checkRemovable);
            ids.forEach(charges::remove);
            names.values().remove(group);
        });
    }

    /// Returns the group with these snapshots (CSI v1.13, GetVolumeGroupSnapshot).
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if one of them does not exist
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `ids` are not the snapshots of this group
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

    private static List<VolumeId.Provisioned> checkMembers(GroupSnapshotId group, List<SnapshotId> ids) {
        Optional<SnapshotId> stranger =
                ids.stream().filter(id -> !group.has(id)).findFirst();
        if (stranger.isPresent()) {
            throw new DriverException.InvalidRequest(
                    "snapshot_ids: " + stranger.get() + " does not belong to the group of snapshots " + group);
        }
        List<VolumeId.Provisioned> members =
                ids.stream().map(SnapshotId::volume).distinct().toList();
        if (!CephNames.isOf(group.snapshot(), members)) {
            throw new DriverException.InvalidRequest(
                    "snapshot_ids: these " + members.size() + " are not all the snapshots of " + group);
        }
        return members;
    }

    private static String key(GroupSnapshotId group, List<VolumeId.Provisioned> members) {
        return Volumes.key(new SnapshotId(members.getFirst(), group.snapshot()));
    }
}
