package dev.siphon.controller.rpc;

import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.GroupSnapshotId;
import dev.siphon.controller.volume.Snapshots;
import dev.siphon.controller.volume.Volumes;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/// Reads ids. One in a format of another version of this driver is FAILED_PRECONDITION to everybody. Text
/// that no version of this driver can have written names nothing that exists: NOT_FOUND, and nothing to do
/// for who wants it removed. An id of a cluster that the clusters file lacks is NOT_FOUND too, but
/// FAILED_PRECONDITION to who wants it removed, since the thing may well exist.
final class RequestIds {
    private final Clusters clusters;

    RequestIds(Clusters clusters) {
        this.clusters = clusters;
    }

    /// The volume that has to exist for the request.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if it cannot exist
    VolumeId volume(String field, String text) {
        return existing(field, text, RequestIds::parseVolume, VolumeId::cluster);
    }

    /// The volume to remove; empty if there is none to remove.
    Optional<VolumeId> volumeToRemove(String field, String text) {
        return removable(field, text, RequestIds::parseVolume, VolumeId::cluster);
    }

    /// The snapshot that has to exist for the request.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if it cannot exist
    SnapshotId snapshot(String field, String text) {
        return existing(
                field,
                text,
                RequestIds::parseSnapshot,
                snapshot -> snapshot.volume().cluster());
    }

    /// The snapshot to remove; empty if there is none to remove.
    Optional<SnapshotId> snapshotToRemove(String field, String text) {
        return removable(
                field,
                text,
                RequestIds::parseSnapshot,
                snapshot -> snapshot.volume().cluster());
    }

    /// The group of snapshots that has to exist for the request.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if it cannot exist
    GroupSnapshotId group(String field, String text) {
        return existing(field, text, GroupSnapshotId::tryParse, GroupSnapshotId::cluster);
    }

    /// The group of snapshots to remove; empty if there is none to remove.
    Optional<GroupSnapshotId> groupToRemove(String field, String text) {
        return removable(field, text, GroupSnapshotId::tryParse, GroupSnapshotId::cluster);
    }

    /// The snapshots of a group; what is no snapshot's id cannot be of the group.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if there are none, or one is no snapshot's
    ///     id
    List<SnapshotId> members(String field, List<String> texts) {
        if (texts.isEmpty()) {
            throw new DriverException.InvalidRequest(field + " is required: at least one");
        }
        return texts.stream()
                .map(text -> SnapshotId.tryParse(id(field, text))
                        .orElseThrow(() -> new DriverException.InvalidRequest(
                                field + ": " + QuotedText.of(text) + " is no snapshot of this driver")))
                .toList();
    }

    /// As [#volume], for a filter: what cannot exist is found nowhere.
    Optional<VolumeId> volumeFilter(String field, String text) {
        return parseVolume(id(field, text)).filter(id -> known(id.cluster()));
    }

    /// As [#snapshot], for a filter: what cannot exist is found nowhere.
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
                .filter(Snapshots::isForCallers);
    }
}
