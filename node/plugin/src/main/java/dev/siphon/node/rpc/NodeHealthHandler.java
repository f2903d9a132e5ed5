package dev.siphon.node.rpc;

import csi.v1.CapacityRange;
import csi.v1.NodeExpandVolumeRequest;
import csi.v1.NodeExpandVolumeResponse;
import csi.v1.NodeGetStorageHealthRequest;
import csi.v1.NodeGetStorageHealthResponse;
import csi.v1.NodeGetVolumeHealthRequest;
import csi.v1.NodeGetVolumeHealthResponse;
import csi.v1.NodeGetVolumeStatsRequest;
import csi.v1.NodeGetVolumeStatsResponse;
import csi.v1.VolumeHealth;
import csi.v1.VolumeHealthErrorType;
import csi.v1.VolumeUsage.Unit;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.MonitorReachability;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.server.Deadlines;
import dev.siphon.node.grant.PublishCheck;
import dev.siphon.node.mount.NodeVolumes;
import dev.siphon.node.mount.TargetPath;
import dev.siphon.node.mount.VolumeProblem;
import dev.siphon.node.mount.VolumeUsage;
import dev.siphon.node.pod.PodHealth;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// Handles the RPCs that only read.
final class NodeHealthHandler {
    private static final String STAGING = "staging_target_path";
    private static final String PATH = "volume_path";

    private final NodeVolumes volumes;
    private final PublishCheck check;
    private final InlineVolumeHandler inline;
    private final PodHealth pods;
    private final Deadlines deadlines;

    NodeHealthHandler(
            NodeVolumes volumes, PublishCheck check, InlineVolumeHandler inline, PodHealth pods, Deadlines deadlines) {
        this.volumes = volumes;
        this.check = check;
        this.inline = inline;
        this.pods = pods;
        this.deadlines = deadlines;
    }

    NodeGetVolumeStatsResponse stats(NodeGetVolumeStatsRequest request) {
        VolumeUsage usage = usage(request.getVolumeId(), request.getVolumePath(), request.getStagingTargetPath());
        return NodeGetVolumeStatsResponse.newBuilder()
                .addUsage(csi.v1.VolumeUsage.newBuilder()
                        .setUnit(Unit.BYTES)
                        .setTotal(usage.totalBytes())
                        .setUsed(usage.usedBytes())
                        .setAvailable(usage.availableBytes()))
                .addUsage(csi.v1.VolumeUsage.newBuilder()
                        .setUnit(Unit.INODES)
                        .setTotal(usage.totalInodes())
                        .setUsed(usage.usedInodes())
                        .setAvailable(usage.availableInodes()))
                .build();
    }

    /// Only checks that the volume is mounted: the controller has set the quota, and every client obeys it at once.
    NodeExpandVolumeResponse expand(NodeExpandVolumeRequest request) {
        Optional<VolumeId> _ = NodeRequestFields.volumeId(request.getVolumeId());
        checkPath(request.getVolumePath());
        if (request.hasVolumeCapability()) {
            var _ = NodeRequestFields.use(true, request.getVolumeCapability(), false);
        }
        checkRange(request.getCapacityRange());
        VolumeUsage usage = usage(request.getVolumeId(), request.getVolumePath(), request.getStagingTargetPath());
        return NodeExpandVolumeResponse.newBuilder()
                .setCapacityBytes(usage.totalBytes())
                .build();
    }

    /// Returns the usage. A relative path is NOT_FOUND: CSI requires absolute paths, and NOT_FOUND for a path
    /// without the volume.
    private VolumeUsage usage(String volumeId, String path, String staging) {
        Optional<VolumeId> id = inline.volumeId(volumeId);
        checkPath(path);
        Optional<TargetPath> _ = NodeRequestFields.optionalPath(STAGING, staging);
        VolumeId volume = id.orElseThrow(() -> NodeRequestFields.noSuchVolume(volumeId));
        if (!path.startsWith("/")) {
            throw new DriverException.NotFound(
                    "volume " + volume + " is not mounted at the relative path " + QuotedText.of(path));
        }
        TargetPath target = TargetPath.parse(PATH, path);
        VolumeUsage usage = pods.watching(target, () -> volumes.usage(volume, target, deadlines.remaining()));
        if (volume instanceof VolumeId.DatasetVolume) {
            pods.access(target, pod -> check.withdrawn(volume, pod.namespace()));
        }
        return usage;
    }

    private static void checkPath(String path) {
        if (path.isEmpty()) {
            throw new DriverException.InvalidRequest(PATH + " is missing");
        }
    }

    private static void checkRange(CapacityRange range) {
        if (range.getRequiredBytes() < 0 || range.getLimitBytes() < 0) {
            throw new DriverException.InvalidRequest("capacity_range holds a negative number");
        }
        if (range.getLimitBytes() > 0 && range.getLimitBytes() < range.getRequiredBytes()) {
            throw new DriverException.CapacityOutOfRange("capacity_range.limit_bytes is less than required_bytes");
        }
    }

    NodeGetVolumeHealthResponse volumeHealth(NodeGetVolumeHealthRequest request) {
        Optional<VolumeId> id = inline.volumeId(request.getVolumeId());
        Optional<TargetPath> target =
                NodeRequestFields.optionalPath("volume_publish_path", request.getVolumePublishPath());
        Optional<TargetPath> staging = NodeRequestFields.optionalPath(STAGING, request.getStagingTargetPath());
        VolumeId volume = id.orElseThrow(() -> NodeRequestFields.noSuchVolume(request.getVolumeId()));
        // a dataset without a key of its own is mounted only at its targets
        boolean isAtStaging = !(volume instanceof VolumeId.DatasetVolume) || target.isEmpty();
        List<TargetPath> expected = Stream.of(target, staging.filter(_ -> isAtStaging))
                .flatMap(Optional::stream)
                .toList();
        VolumeHealth.Builder health = VolumeHealth.newBuilder().setVolumeId(request.getVolumeId());
        for (VolumeProblem problem : volumes.problems(volume, expected, deadlines.remaining())) {
            health.addHealthStatuses(VolumeHealth.VolumeHealthEntry.newBuilder()
                    .setStatus(
                            switch (problem.severity()) {
                                case DEGRADED -> VolumeHealthErrorType.DEGRADED;
                                case INACCESSIBLE -> VolumeHealthErrorType.INACCESSIBLE;
                            })
                    .setReason(problem.reason())
                    .setMessage(problem.message()));
        }
        return NodeGetVolumeHealthResponse.newBuilder().setVolumeHealth(health).build();
    }

    /// Checks only the clusters of mounted volumes: the node knows no others.
    NodeGetStorageHealthResponse storageHealth(NodeGetStorageHealthRequest request) {
        NodeRequestFields.checkSize("secrets", request.getSecretsMap());
        return StorageHealthReport.of(MonitorReachability.findUnreachable(volumes.clusters(), deadlines.remaining()));
    }
}
