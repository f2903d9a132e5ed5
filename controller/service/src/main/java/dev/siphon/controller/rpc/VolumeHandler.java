package dev.siphon.controller.rpc;

import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.ControllerExpandVolumeResponse;
import csi.v1.ControllerGetVolumeRequest;
import csi.v1.ControllerGetVolumeResponse;
import csi.v1.ControllerModifyVolumeRequest;
import csi.v1.ControllerModifyVolumeResponse;
import csi.v1.DeleteVolumeRequest;
import csi.v1.DeleteVolumeResponse;
import csi.v1.GetCapacityRequest;
import csi.v1.GetCapacityResponse;
import dev.siphon.controller.volume.AvailableCapacity;
import dev.siphon.controller.volume.ClassParameters;
import dev.siphon.controller.volume.Homes;
import dev.siphon.controller.volume.PublishedNodes;
import dev.siphon.controller.volume.Volumes;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.Map;
import java.util.Optional;

/// Handles the RPCs about one existing volume, and GetCapacity.
final class VolumeHandler {
    private final Volumes volumes;
    private final AvailableCapacity capacities;
    private final Optional<PublishedNodes> attachments;
    private final RequestIds ids;

    /// @param attachments empty unless in attach mode
    VolumeHandler(Volumes volumes, AvailableCapacity capacities, Optional<PublishedNodes> attachments, RequestIds ids) {
        this.volumes = volumes;
        this.capacities = capacities;
        this.attachments = attachments;
        this.ids = ids;
    }

    DeleteVolumeResponse delete(DeleteVolumeRequest request) {
        Optional<VolumeId> id = ids.volumeToRemove("volume_id", request.getVolumeId());
        RequestFields.secrets(request.getSecretsMap());
        String home = request.getSecretsOrDefault(Homes.DELETE, "");
        id.ifPresent(volume -> {
            if (!home.equals(volume.toString())) {
                attachments.ifPresent(attached -> attached.checkDetached(volume));
            }
            volumes.delete(volume, home);
        });
        return DeleteVolumeResponse.getDefaultInstance();
    }

    ControllerGetVolumeResponse get(ControllerGetVolumeRequest request) {
        VolumeId id = ids.volume("volume_id", request.getVolumeId());
        ControllerGetVolumeResponse.Builder response =
                ControllerGetVolumeResponse.newBuilder().setVolume(ProtoMessages.volume(volumes.get(id)));
        response.getStatusBuilder()
                .addAllPublishedNodeIds(
                        attachments.map(attached -> attached.nodes(id)).orElse(java.util.List.of()));
        return response.build();
    }

    /// Expands a volume. A quota takes effect on every node by itself, so no node expansion is required.
    ControllerExpandVolumeResponse expand(ControllerExpandVolumeRequest request) {
        VolumeId id = ids.volume("volume_id", request.getVolumeId());
        if (!request.hasCapacityRange()) {
            throw new DriverException.InvalidRequest("capacity_range is required");
        }
        if (request.hasVolumeCapability()) {
            var _ = RequestFields.accessMode("volume_capability", request.getVolumeCapability());
        }
        RequestFields.secrets(request.getSecretsMap());
        return ControllerExpandVolumeResponse.newBuilder()
                .setCapacityBytes(volumes.expand(id, RequestFields.capacity(request.getCapacityRange())))
                .setNodeExpansionRequired(false)
                .build();
    }

    ControllerModifyVolumeResponse modify(ControllerModifyVolumeRequest request) {
        VolumeId id = ids.volume("volume_id", request.getVolumeId());
        Map<String, String> parameters = RequestFields.map("mutable_parameters", request.getMutableParametersMap());
        RequestFields.secrets(request.getSecretsMap());
        volumes.modify(id, ClassParameters.parseChangeable(parameters));
        return ControllerModifyVolumeResponse.getDefaultInstance();
    }

    GetCapacityResponse capacity(GetCapacityRequest request) {
        if (request.getVolumeCapabilitiesCount() > 0) {
            var _ = RequestFields.accessModes("volume_capabilities", request.getVolumeCapabilitiesList());
        }
        if (request.getAccessibleTopology().getSegmentsCount() > 0) {
            throw new DriverException.InvalidRequest(
                    "accessible_topology must not be set: volumes are reachable from everywhere");
        }
        return GetCapacityResponse.newBuilder()
                .setAvailableCapacity(capacities.available(
                        ClassParameters.parse(RequestFields.map("parameters", request.getParametersMap()))))
                .build();
    }
}
