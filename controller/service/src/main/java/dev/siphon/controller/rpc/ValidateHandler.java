package dev.siphon.controller.rpc;

import csi.v1.ValidateVolumeCapabilitiesRequest;
import csi.v1.ValidateVolumeCapabilitiesResponse;
import csi.v1.VolumeCapability;
import dev.siphon.controller.volume.ClassParameters;
import dev.siphon.controller.volume.VolumeRequest.ClaimAccessMode;
import dev.siphon.controller.volume.Volumes;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.util.Map;

/// Handles ValidateVolumeCapabilities. An incomplete request is an error. Capabilities or parameters that the
/// volume cannot have are a reply with a message.
final class ValidateHandler {
    private final Volumes volumes;
    private final RequestIds ids;

    ValidateHandler(Volumes volumes, RequestIds ids) {
        this.volumes = volumes;
        this.ids = ids;
    }

    ValidateVolumeCapabilitiesResponse handle(ValidateVolumeCapabilitiesRequest request) {
        String text = RequestFields.id("volume_id", request.getVolumeId());
        if (request.getVolumeCapabilitiesCount() == 0) {
            throw new DriverException.InvalidRequest("volume_capabilities is required: at least one");
        }
        for (int i = 0; i < request.getVolumeCapabilitiesCount(); i++) {
            checkWhole("volume_capabilities[" + i + "]", request.getVolumeCapabilities(i));
        }
        RequestFields.secrets(request.getSecretsMap());
        Map<String, String> context = RequestFields.map("volume_context", request.getVolumeContextMap());
        Map<String, String> parameters = RequestFields.map("parameters", request.getParametersMap());
        Map<String, String> changeable = RequestFields.map("mutable_parameters", request.getModifiableParametersMap());
        VolumeId id = ids.volume("volume_id", text);
        var _ = volumes.get(id);
        ValidateVolumeCapabilitiesResponse.Builder response = ValidateVolumeCapabilitiesResponse.newBuilder();
        try {
            for (ClaimAccessMode mode :
                    RequestFields.accessModes("volume_capabilities", request.getVolumeCapabilitiesList())) {
                volumes.checkMode(id, mode);
            }
            if (!context.isEmpty()) {
                var _ = VolumeContext.fromMap(id, context);
            }
            var _ = ClassParameters.parse(parameters);
            var _ = ClassParameters.parseChangeable(changeable);
        } catch (DriverException.InvalidRequest cannot) {
            return response.setMessage(cannot.getMessage()).build();
        }
        response.getConfirmedBuilder()
                .addAllVolumeCapabilities(request.getVolumeCapabilitiesList())
                .putAllVolumeContext(context)
                .putAllParameters(parameters)
                .putAllModifiableParameters(changeable);
        return response.build();
    }

    private static void checkWhole(String field, VolumeCapability capability) {
        if (capability.getAccessTypeCase() == VolumeCapability.AccessTypeCase.ACCESSTYPE_NOT_SET) {
            throw new DriverException.InvalidRequest(field + ".access_type is required");
        }
        if (!capability.hasAccessMode()) {
            throw new DriverException.InvalidRequest(field + ".access_mode is required");
        }
    }
}
