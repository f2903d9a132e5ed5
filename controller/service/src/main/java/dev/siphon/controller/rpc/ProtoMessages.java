package dev.siphon.controller.rpc;

import com.google.protobuf.Timestamp;
import csi.v1.VolumeContentSource;
import csi.v1.VolumeGroupSnapshot;
import csi.v1.VolumeHealth;
import csi.v1.VolumeHealthErrorType;
import dev.siphon.controller.volume.ClusterVolumeHealth;
import dev.siphon.controller.volume.GroupSnapshotId;
import dev.siphon.controller.volume.GroupSnapshots;
import dev.siphon.controller.volume.SnapshotView;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.VolumeContext;
import java.time.Instant;
import java.util.Comparator;
import java.util.Map;

/// Converts the domain's values to CSI messages.
final class ProtoMessages {
    private ProtoMessages() {}

    static csi.v1.Volume volume(Volume volume) {
        csi.v1.Volume.Builder message = csi.v1.Volume.newBuilder()
                .setVolumeId(volume.id().toString())
                .setCapacityBytes(volume.capacityBytes())
                .putAllVolumeContext(volume.context().map(VolumeContext::toMap).orElse(Map.of()));
        volume.source().ifPresent(source -> message.setContentSource(source(source)));
        return message.build();
    }

    private static VolumeContentSource source(ContentSource source) {
        return switch (source) {
            case ContentSource.FromSnapshot from ->
                VolumeContentSource.newBuilder()
                        .setSnapshot(VolumeContentSource.SnapshotSource.newBuilder()
                                .setSnapshotId(from.snapshot().toString()))
                        .build();
            case ContentSource.FromVolume from ->
                VolumeContentSource.newBuilder()
                        .setVolume(VolumeContentSource.VolumeSource.newBuilder()
                                .setVolumeId(from.volume().toString()))
                        .build();
        };
    }

    static csi.v1.Snapshot snapshot(SnapshotView snapshot) {
        return csi.v1.Snapshot.newBuilder()
                .setSnapshotId(snapshot.id().toString())
                .setSourceVolumeId(snapshot.id().volume().toString())
                .setSizeBytes(snapshot.sizeBytes().orElse(0))
                .setCreationTime(timestamp(snapshot.createdAt()))
                .setReadyToUse(snapshot.ready())
                .setGroupSnapshotId(
                        snapshot.group().map(GroupSnapshotId::toString).orElse(""))
                .build();
    }

    /// Returns a group of snapshots; its creation time is that of its last snapshot.
    static VolumeGroupSnapshot group(GroupSnapshots.View group) {
        Instant taken = group.snapshots().stream()
                .map(SnapshotView::createdAt)
                .max(Comparator.naturalOrder())
                .orElse(Instant.EPOCH);
        return VolumeGroupSnapshot.newBuilder()
                .setGroupSnapshotId(group.id().toString())
                .addAllSnapshots(
                        group.snapshots().stream().map(ProtoMessages::snapshot).toList())
                .setCreationTime(timestamp(taken))
                .setReadyToUse(true)
                .build();
    }

    static VolumeHealth health(ClusterVolumeHealth.Report report) {
        return VolumeHealth.newBuilder()
                .setVolumeId(report.id().toString())
                .addAllHealthStatuses(report.troubles().stream()
                        .map(trouble -> VolumeHealth.VolumeHealthEntry.newBuilder()
                                .setStatus(type(trouble.kind()))
                                .setReason(trouble.reason())
                                .setMessage(trouble.message())
                                .build())
                        .toList())
                .build();
    }

    private static VolumeHealthErrorType type(ClusterVolumeHealth.Trouble.Kind kind) {
        return switch (kind) {
            case DEGRADED -> VolumeHealthErrorType.DEGRADED;
            case INACCESSIBLE -> VolumeHealthErrorType.INACCESSIBLE;
            case DATA_LOSS -> VolumeHealthErrorType.DATA_LOSS;
        };
    }

    private static Timestamp timestamp(Instant instant) {
        return Timestamp.newBuilder()
                .setSeconds(instant.getEpochSecond())
                .setNanos(instant.getNano())
                .build();
    }
}
