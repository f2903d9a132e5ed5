package dev.siphon.node.rpc;

import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodePublishVolumeResponse;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.NodeStageVolumeResponse;
import csi.v1.NodeUnpublishVolumeRequest;
import csi.v1.NodeUnpublishVolumeResponse;
import csi.v1.NodeUnstageVolumeRequest;
import csi.v1.NodeUnstageVolumeResponse;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.server.Deadlines;
import dev.siphon.node.device.DatasetPlacement;
import dev.siphon.node.grant.PublishCheck;
import dev.siphon.node.mount.CachePreference;
import dev.siphon.node.mount.CephCredentials;
import dev.siphon.node.mount.NodeVolumes;
import dev.siphon.node.mount.PublishRequest;
import dev.siphon.node.mount.StageRequest;
import dev.siphon.node.mount.TargetPath;
import dev.siphon.node.mount.VolumeUse;
import dev.siphon.node.pod.Pod;
import dev.siphon.node.pod.PodHealth;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Handles the four RPCs that mount and unmount. An id that no volume of this driver can have is NOT_FOUND for
/// stage and publish, and success for unstage and unpublish.
final class NodeMountHandler {
    private static final String STAGING = "staging_target_path";
    private static final String TARGET = "target_path";

    private final NodeVolumes volumes;
    private final PublishCheck check;
    private final InlineVolumeHandler inline;
    private final DatasetPlacement placement;
    private final PodHealth pods;
    private final Deadlines deadlines;
    private final boolean canAsk;

    NodeMountHandler(
            NodeVolumes volumes,
            PublishCheck check,
            InlineVolumeHandler inline,
            DatasetPlacement placement,
            PodHealth pods,
            Deadlines deadlines) {
        this.volumes = volumes;
        this.check = check;
        this.inline = inline;
        this.placement = placement;
        this.pods = pods;
        this.deadlines = deadlines;
        this.canAsk = inline.canAsk();
    }

    NodeStageVolumeResponse stage(NodeStageVolumeRequest request) {
        Optional<VolumeId> id = NodeRequestFields.volumeId(request.getVolumeId());
        TargetPath staging = TargetPath.parse(STAGING, request.getStagingTargetPath());
        VolumeUse use = NodeRequestFields.use(request.hasVolumeCapability(), request.getVolumeCapability(), false);
        checkMaps(request.getVolumeContextMap(), request.getPublishContextMap(), request.getSecretsMap());
        VolumeId volume = id.orElseThrow(() -> NodeRequestFields.noSuchVolume(request.getVolumeId()));
        VolumeContext context = VolumeContext.fromMap(volume, request.getVolumeContextMap());
        if (canAsk && inline.isAskedFor(volume, request.getSecretsMap())) {
            return NodeStageVolumeResponse.getDefaultInstance(); // the publish of each pod mounts it at the target
        }
        CephCredentials credentials = CephCredentials.ofVolume(volume, request.getSecretsMap());
        if (volume instanceof VolumeId.DatasetVolume) {
            placement.waits().begins(request.getVolumeId());
        }
        volumes.stage(new StageRequest(volume, staging, context, use, credentials), deadlines.remaining());
        return NodeStageVolumeResponse.getDefaultInstance();
    }

    NodeUnstageVolumeResponse unstage(NodeUnstageVolumeRequest request) {
        Optional<VolumeId> id = NodeRequestFields.volumeId(request.getVolumeId());
        TargetPath staging = TargetPath.parse(STAGING, request.getStagingTargetPath());
        placement.waits().ends(request.getVolumeId());
        id.ifPresent(volume -> volumes.unstage(volume, staging, deadlines.remaining()));
        return NodeUnstageVolumeResponse.getDefaultInstance();
    }

    NodePublishVolumeResponse publish(NodePublishVolumeRequest request) {
        Optional<VolumeId> id = NodeRequestFields.volumeId(request.getVolumeId());
        TargetPath target = TargetPath.parse(TARGET, request.getTargetPath());
        Optional<Pod> pod = Pod.ofContext(request.getVolumeContextMap());
        pod.ifPresent(_ -> placement.waits().begins(target.text()));
        boolean isInline = Pod.hasInline(request.getVolumeContextMap());
        if (isInline) {
            checkMaps(request.getVolumeContextMap(), request.getPublishContextMap(), request.getSecretsMap());
            inline.publish(request, target);
        } else {
            publishOfClaim(request, id, target);
        }
        pod.ifPresent(reader -> placement
                .waits()
                .readable(
                        target,
                        request.getVolumeId(),
                        reader,
                        !pods.isPublished(target, reader),
                        () -> volumes.source(target)));
        pods.published(target, pod);
        if (isInline || id.filter(VolumeId.DatasetVolume.class::isInstance).isPresent()) {
            volumes.slowness(target).ifPresent(why -> pods.slow(target, why));
        }
        return NodePublishVolumeResponse.getDefaultInstance();
    }

    private void publishOfClaim(NodePublishVolumeRequest request, Optional<VolumeId> id, TargetPath target) {
        VolumeUse use = NodeRequestFields.use(
                request.hasVolumeCapability(), request.getVolumeCapability(), request.getReadonly());
        checkMaps(request.getVolumeContextMap(), request.getPublishContextMap(), request.getSecretsMap());
        if (request.getStagingTargetPath().isEmpty()) {
            throw new DriverException.InUse(STAGING + " is missing; NodeStageVolume comes first");
        }
        TargetPath staging = TargetPath.parse(STAGING, request.getStagingTargetPath());
        if (staging.text().equals(target.text())) {
            throw new DriverException.InvalidRequest(TARGET + " is the staging path itself");
        }
        VolumeId volume = id.orElseThrow(() -> NodeRequestFields.noSuchVolume(request.getVolumeId()));
        Optional<VolumeContext> context = request.getVolumeContextCount() == 0
                ? Optional.empty()
                : Optional.of(VolumeContext.fromMap(volume, request.getVolumeContextMap()));
        Optional<Pod> pod = Pod.ofContext(request.getVolumeContextMap());
        boolean isAsked = canAsk && inline.isAskedFor(volume, request.getSecretsMap());
        if (isAsked && volume instanceof VolumeId.DatasetVolume dataset) {
            // the controller decides who may read it
            inline.publishClaimed(dataset, context, pod, use, target);
            return;
        }
        check.check(
                volume,
                context,
                Optional.ofNullable(request.getVolumeContextMap().get(Pod.NAMESPACE)),
                Optional.ofNullable(request.getVolumeContextMap().get(Pod.NAME)));
        Optional<CephCredentials> credentials = CephCredentials.arePresent(request.getSecretsMap())
                ? Optional.of(CephCredentials.ofVolume(volume, request.getSecretsMap()))
                : Optional.empty();
        if (volume instanceof VolumeId.DatasetVolume dataset && pod.isPresent()) {
            CachePreference caches = placement.prefer(dataset, pod.get());
            List<Path> replicaDirectories = volumes.publish(
                    new PublishRequest(volume, staging, target, use, context, credentials, caches),
                    deadlines.remaining());
            placement.report(dataset, pod.get(), caches, replicaDirectories);
        } else {
            var _ = volumes.publish(
                    new PublishRequest(
                            volume, staging, target, use, context, credentials, new CachePreference.AnyDirectory()),
                    deadlines.remaining());
        }
    }

    NodeUnpublishVolumeResponse unpublish(NodeUnpublishVolumeRequest request) {
        Optional<VolumeId> id = NodeRequestFields.volumeId(request.getVolumeId());
        TargetPath target = TargetPath.parse(TARGET, request.getTargetPath());
        pods.ends(target);
        inline.ends(target);
        placement.waits().ends(target.text());
        if (!inline.unpublish(request, target)) {
            id.ifPresent(volume -> volumes.unpublish(volume, target, deadlines.remaining()));
        }
        return NodeUnpublishVolumeResponse.getDefaultInstance();
    }

    private static void checkMaps(
            Map<String, String> volumeContext, Map<String, String> publishContext, Map<String, String> secrets) {
        NodeRequestFields.checkSize("volume_context", volumeContext);
        NodeRequestFields.checkSize("publish_context", publishContext);
        NodeRequestFields.checkSize("secrets", secrets);
    }
}
