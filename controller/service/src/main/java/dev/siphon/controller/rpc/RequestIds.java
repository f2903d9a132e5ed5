package dev.siphon.controller.rpc;

import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.GroupSnapshotId;
import dev.siphon.controller.volume.Volumes;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/// Parses ids:
///
/// - An id in the format of another driver version is always FAILED_PRECONDITION.
/// - Text that no version of this driver can have written names nothing that exists. It is NOT_FOUND; a removal
///   has nothing to do.
/// - An id of a cluster that is not in the clusters file is NOT_FOUND; for a removal FAILED_PRECONDITION, since
///   the object may still exist.
final class RequestIds {
    private final Clusters clusters;

    RequestIds(Clusters clusters) {
        this.clusters = clusters;
    }

    /// Returns the volume of a request that needs an existing one.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if it cannot exist
    VolumeId volume(String field, String text) {
        return existing(field, text, RequestIds::parseVolume, VolumeId::cluster);
    }

    /// Returns the volume to remove; empty if it cannot exist.
    Optional<VolumeId> volumeToRemove(String field, String text) {
        return removable(field, text, RequestIds::parseVolume, VolumeId::cluster);
    }

    /// Returns the snapshot of a request that needs an existing one.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if it cannot exist
    SnapshotId snapshot(String field, String text) {
        return existing(
                field,
                text,
                RequestIds::parseSnapshot,
                snapshot -> snapshot.volume().cluster());
    }

    /// Returns the snapshot to remove; empty if it cannot exist.
    Optional<SnapshotId> snapshotToRemove(String field, String text) {
        return removable(
                field,
                text,
                RequestIds::parseSnapshot,
                snapshot -> snapshot.volume().cluster());
    }

    /// Returns the group of snapshots of a request that needs an existing one.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if it cannot exist
    GroupSnapshotId group(String field, String text) {
        return existing(field, text, GroupSnapshotId::tryParse, GroupSnapshotId::cluster);
    }

    /// Returns the group of snapshots to remove; empty if it cannot exist.
    Optional<GroupSnapshotId> groupToRemove(String field, String text) {
        return removable(field, text, GroupSnapshotId::tryParse, GroupSnapshotId::cluster);
    }

    /// Returns the snapshots of a group.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the list is empty or contains an id that is
    ///     not a snapshot's
    List<SnapshotId> members(String field, List<String> texts) {
        if (texts.isEmpty()) {
            throw new DriverException.InvalidRequest(field + " is required: at least one");
        }
        return texts.stream()
                .map(text -> SnapshotId.tryParse(id(field, text))
                        .orElseThrow(() -> new DriverException.InvalidRequest(
                                field + ": " + QuotedText.of(text) + " is not a snapshot of this driver")))
                .toList();
    }

    /// Same as [#volume], for a filter; empty if it cannot exist.
    Optional<VolumeId> volumeFilter(String field, String text) {
        return parseVolume(id(field, text)).filter(id -> known(id.cluster()));
    }

    /// Same as [#snapshot], for a filter; empty if it cannot exist.
    Optional<SnapshotId> snapshotFilter(String field, String text) {
        return parseSnapshot(id(field, text)).filter(id -> known(id.volume().cluster()));
    }

    private <T> T existing(
            String field, String text, Function<String, Optional<T>> parse, Function<T, String> clusterOf) {
        T id = parse.apply(id(field, text))
                .orElseThrow(() -> new DriverException.NotFound(
                        field + " " + QuotedText.of(text) + " does not exist: it is not of this driver"));
        if (!known(clusterOf.apply(id))) {
            throw new DriverException.NotFound(unknownCluster(field, text, clusterOf.apply(id)));
        }
        return id;
    }

    private <T> Optional<T> removable(
            String field, String text, Function<String, Optional<T>> parse, Function<T, String> clusterOf) {
        Optional<T> id = parse.apply(id(field, text));
        id.map(clusterOf).filter(cluster -> !known(cluster)).ifPresent(cluster -> {
            throw new DriverException.InUse(unknownCluster(field, text, cluster));
        });
        return id;
    }

    private String unknownCluster(String field, String text, String cluster) {
        return field + " " + QuotedText.of(text) + " names cluster " + cluster
                + ", which the clusters file lacks; it has " + clusters.ids();
    }

    private static String id(String field, String text) {
        String id = RequestFields.id(field, text);
        VolumeId.checkFormat(field, id);
        return id;
    }

    private boolean known(String cluster) {
        return clusters.ids().contains(cluster);
    }

    private static Optional<VolumeId> parseVolume(String text) {
        return VolumeId.tryParse(text).filter(Volumes::canHaveMade);
    }

    private static Optional<SnapshotId> parseSnapshot(String text) {
        return SnapshotId.tryParse(text)
                .filter(id -> Volumes.canHaveMade(id.volume()))
                .filter(CephNames::isForCallers);
    }
}
