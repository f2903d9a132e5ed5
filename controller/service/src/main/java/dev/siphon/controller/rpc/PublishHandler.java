package dev.siphon.controller.rpc;

import csi.v1.ControllerPublishVolumeRequest;
import csi.v1.ControllerPublishVolumeResponse;
import csi.v1.ControllerUnpublishVolumeRequest;
import csi.v1.ControllerUnpublishVolumeResponse;
import dev.siphon.controller.volume.PublishedNodes;
import dev.siphon.controller.volume.VolumeRequest.ClaimAccessMode;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.util.Map;
import java.util.Optional;

/// Handles ControllerPublishVolume and ControllerUnpublishVolume; outside attach mode both are UNIMPLEMENTED.
final class PublishHandler {
    private final Optional<PublishedNodes> attachments;
    private final RequestIds ids;

    /// @param attachments empty unless in attach mode
    PublishHandler(Optional<PublishedNodes> attachments, RequestIds ids) {
        this.attachments = attachments;
        this.ids = ids;
    }

    ControllerPublishVolumeResponse publish(ControllerPublishVolumeRequest request) {
        PublishedNodes attached = attachments();
        String volume = RequestFields.id("volume_id", request.getVolumeId());
        String node = RequestFields.id("node_id", request.getNodeId(), NodeId.MAX_BYTES);
        if (!request.hasVolumeCapability()) {
            throw new DriverException.InvalidRequest("volume_capability is required");
        }
        ClaimAccessMode mode = RequestFields.accessMode("volume_capability", request.getVolumeCapability());
        RequestFields.secrets(request.getSecretsMap());
        Map<String, String> context = RequestFields.map("volume_context", request.getVolumeContextMap());
        VolumeId id = ids.volume("volume_id", volume);
        if (!context.isEmpty()) {
            var _ = VolumeContext.fromMap(id, context);
        }
        attached.attach(id, node, mode, request.getReadonly());
        return ControllerPublishVolumeResponse.getDefaultInstance();
    }

    ControllerUnpublishVolumeResponse unpublish(ControllerUnpublishVolumeRequest request) {
        PublishedNodes attached = attachments();
        Optional<VolumeId> id = ids.volumeToRemove("volume_id", request.getVolumeId());
        Optional<String> node = request.getNodeId().isEmpty()
                ? Optional.empty()
                : Optional.of(RequestFields.id("node_id", request.getNodeId(), NodeId.MAX_BYTES));
        RequestFields.secrets(request.getSecretsMap());
        id.ifPresent(volume -> attached.detach(volume, node));
        return ControllerUnpublishVolumeResponse.getDefaultInstance();
    }

    private PublishedNodes attachments() {
        return attachments.orElseThrow(() -> new DriverException.Unsupported(
                "this controller does not attach volumes to nodes; run it with --attach"));
    }
}
