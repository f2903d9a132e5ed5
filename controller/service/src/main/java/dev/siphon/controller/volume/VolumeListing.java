package dev.siphon.controller.volume;

import dev.siphon.controller.volume.SubvolumeInventory.KnownSubvolume;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;

/// Lists volumes and snapshots in pages. A page's token is the last id it inspected; the next page starts after
/// that, in the order of ids. A token thus stays valid whatever is created or removed meanwhile, even its own
/// object.
public final class VolumeListing {
    /// The most entries on a page, and the most volumes inspected for one, whatever a caller requests: each may
    /// cost a mgr command.
    private static final int MOST = 1000;

    private final Clusters clusters;
    private final Subvolumes subvolumes;
    private final SubvolumeInventory inventory;
    private final Volumes volumes;
    private final Snapshots snapshots;

    public VolumeListing(CephPorts ports, Volumes volumes, Snapshots snapshots) {
        this.clusters = ports.clusters();
        this.subvolumes = ports.subvolumes();
        this.inventory = volumes.inventory();
        this.volumes = volumes;
        this.snapshots = snapshots;
    }

    /// One page.
    ///
    /// @param next the token of the next page; empty if there is none
    public record Page<T>(List<T> entries, String next) {
        public Page {
            entries = List.copyOf(entries);
        }

        /// Returns an empty page without a next one.
        public static <T> Page<T> empty() {
            return new Page<>(List.of(), "");
        }
    }

    /// Returns a page of volumes (CSI v1.13, ListVolumes).
    ///
    /// @param most the maximum number of entries; 0 for as many as fit on a page
    /// @param token the token of the previous page's reply; empty for the first
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `most` is negative
    /// @throws DriverException.OperationPending (ABORTED) if the token is invalid
    public Page<Volume> volumes(int most, String token) {
        return volumes(
                most,
                token,
                (id, known) -> refresh(id, known) instanceof KnownSubvolume.Live(var quotaBytes)
                        ? Optional.of(new Volume(id, quotaBytes.orElse(0), Optional.empty(), Optional.empty()))
                        : Optional.empty());
    }

    /// Returns a page of what `entry` returns for each volume; leaves out volumes for which it returns empty.
    <T> Page<T> volumes(int most, String token, BiFunction<VolumeId.Provisioned, KnownSubvolume, Optional<T>> entry) {
        int limit = limit(most);
        Optional<VolumeId.Provisioned> after = afterVolume(token);
        List<T> entries = new ArrayList<>();
        String last = "";
        int looked = 0;
        for (SubvolumeGroup group : groupsFrom(after.map(SubvolumeGroup::of))) {
            String behind = after.filter(id -> SubvolumeGroup.of(id).equals(group))
                    .map(VolumeId.Provisioned::subvolume)
                    .orElse("");
            for (Map.Entry<String, KnownSubvolume> known :
                    inventory.namesAfter(group, behind).entrySet()) {
                if (CephNames.kindOf(known.getKey()).isEmpty()) {
                    continue;
                }
                if (looked == MOST) {
                    return new Page<>(entries, last);
                }
                VolumeId.Provisioned id = group.volume(known.getKey());
                Optional<T> made = entry.apply(id, known.getValue());
                if (made.isPresent() && entries.size() == limit) {
                    return new Page<>(entries, last);
                }
                made.ifPresent(entries::add);
                looked++;
                last = id.toString();
            }
        }
        return new Page<>(entries, "");
    }

    /// Returns a page of snapshots (CSI v1.13, ListSnapshots).
    ///
    /// @param source limits the page to snapshots of this volume
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `most` is negative
    /// @throws DriverException.OperationPending (ABORTED) if the token is invalid
    public Page<SnapshotView> snapshots(int most, String token, Optional<VolumeId> source) {
        int limit = limit(most);
        Optional<SnapshotId> after = afterSnapshot(token);
        if (source.filter(VolumeId.WithPath.class::isInstance).isPresent()) {
            return Page.empty();
        }
        Optional<VolumeId.Provisioned> only = source.map(VolumeId.Provisioned.class::cast);
        List<SnapshotView> entries = new ArrayList<>();
        List<SubvolumeGroup> groups = only.map(SubvolumeGroup::of)
                .map(List::of)
                .orElseGet(() -> groupsFrom(after.map(SnapshotId::volume).map(SubvolumeGroup::of)));
        for (SubvolumeGroup group : groups) {
            for (VolumeId.Provisioned volume : volumesOf(group, only, after.map(SnapshotId::volume))) {
                String behind = after.filter(id -> id.volume().equals(volume))
                        .map(SnapshotId::name)
                        .orElse("");
                for (String name : subvolumes.snapshots(volume)) {
                    if (name.compareTo(behind) <= 0 || !listed(volume, name)) {
                        continue;
                    }
                    if (entries.size() == limit) {
                        return new Page<>(entries, entries.getLast().id().toString());
                    }
                    snapshots.find(new SnapshotId(volume, name)).ifPresent(entries::add);
                }
            }
        }
        return new Page<>(entries, "");
    }

    /// Checks limit and token, for callers that can reply without a listing.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `most` is negative
    /// @throws DriverException.OperationPending (ABORTED) if the token is invalid
    public static void checkSnapshotPage(int most, String token) {
        var _ = limit(most);
        var _ = afterSnapshot(token);
    }

    private static boolean listed(VolumeId.Provisioned volume, String snapshot) {
        return VolumeId.Part.SNAPSHOT.fits(snapshot) && CephNames.isForCallers(new SnapshotId(volume, snapshot));
    }

    private List<VolumeId.Provisioned> volumesOf(
            SubvolumeGroup group, Optional<VolumeId.Provisioned> only, Optional<VolumeId.Provisioned> from) {
        return only.map(List::of)
                .orElseGet(() -> subvolumes.list(group).orElse(List.of()).stream()
                        .filter(name -> CephNames.kindOf(name).isPresent())
                        .map(group::volume)
                        .filter(volume -> from.filter(
                                        first -> SubvolumeGroup.of(first).equals(group)
                                                && first.subvolume().compareTo(volume.subvolume()) > 0)
                                .isEmpty())
                        .toList());
    }

    /// Returns all of Siphon's groups in all clusters in the order of ids, starting at the group where a page
    /// ended.
    private List<SubvolumeGroup> groupsFrom(Optional<SubvolumeGroup> first) {
        List<SubvolumeGroup> all = new ArrayList<>();
        for (String cluster : clusters.ids()) {
            for (Clusters.FileSystem fileSystem : clusters.fileSystems(cluster)) {
                for (String name : subvolumes.groups(cluster, fileSystem.name())) {
                    if (CephNames.isGroup(name)) {
                        all.add(new SubvolumeGroup(cluster, fileSystem.name(), name));
                    }
                }
            }
        }
        return first.map(from ->
                        all.stream().filter(group -> compare(group, from) >= 0).toList())
                .orElse(all);
    }

    private static int compare(SubvolumeGroup left, SubvolumeGroup right) {
        int clusters = left.cluster().compareTo(right.cluster());
        int fileSystems = left.fileSystem().compareTo(right.fileSystem());
        return clusters != 0
                ? clusters
                : fileSystems != 0 ? fileSystems : left.name().compareTo(right.name());
    }

    private KnownSubvolume refresh(VolumeId.Provisioned id, KnownSubvolume known) {
        if (!(known instanceof KnownSubvolume.Unsure)) {
            return known;
        }
        Optional<KnownSubvolume> now = subvolumes.find(id).map(found -> switch (found.state()) {
            case READY -> volumes.isWhole(id, found) ? new KnownSubvolume.Live(found.quotaBytes()) : known;
            case RETAINED -> new KnownSubvolume.Retained();
            case CLONING, CLONE_ENDED_BADLY, BROKEN -> known;
        });
        inventory.learn(id, known, now);
        return now.orElse(known);
    }

    private static int limit(int most) {
        if (most < 0) {
            throw new DriverException.InvalidRequest("max_entries " + most + " must not be negative");
        }
        return most == 0 ? MOST : Math.min(most, MOST);
    }

    private static Optional<VolumeId.Provisioned> afterVolume(String token) {
        return token.isEmpty()
                ? Optional.empty()
                : Optional.of(VolumeId.tryParse(token)
                        .filter(VolumeId.Provisioned.class::isInstance)
                        .map(VolumeId.Provisioned.class::cast)
                        .orElseThrow(() -> badToken(token)));
    }

    private static Optional<SnapshotId> afterSnapshot(String token) {
        return token.isEmpty()
                ? Optional.empty()
                : Optional.of(SnapshotId.tryParse(token).orElseThrow(() -> badToken(token)));
    }

    private static DriverException badToken(String token) {
        return new DriverException.OperationPending(
                "starting_token " + QuotedText.of(token) + " is not valid; list again from the beginning");
    }
}
