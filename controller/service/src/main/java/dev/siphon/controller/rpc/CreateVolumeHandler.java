package dev.siphon.controller.rpc;

import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import csi.v1.VolumeContentSource;
import dev.siphon.controller.volume.ClassParameters;
import dev.siphon.controller.volume.VolumeClass;
import dev.siphon.controller.volume.VolumeRequest;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ClaimAccessMode;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.controller.volume.Volumes;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Optional;

/// Handles CreateVolume: translates the request and its reply.
final class CreateVolumeHandler {
    private final Volumes volumes;
    private final RequestIds ids;

    CreateVolumeHandler(Volumes volumes, RequestIds ids) {
        this.volumes = volumes;
        this.ids = ids;
    }

    CreateVolumeResponse handle(CreateVolumeRequest request) {
        String name = RequestFields.name("name", request.getName());
        List<ClaimAccessMode> modes =
                RequestFields.accessModes("volume_capabilities", request.getVolumeCapabilitiesList());
        CapacityRange capacity =
                request.hasCapacityRange() ? RequestFields.capacity(request.getCapacityRange()) : CapacityRange.ANY;
        // A VolumeAttributesClass overrides the StorageClass.
        VolumeClass parameters = ClassParameters.parse(RequestFields.map("parameters", request.getParametersMap()))
                .with(ClassParameters.parseChangeable(
                        RequestFields.map("mutable_parameters", request.getModifiableParametersMap())));
        RequestFields.secrets(request.getSecretsMap());
        RequestFields.noTopology("accessibility_requirements", request.getAccessibilityRequirements());
        Optional<ContentSource> source = request.hasVolumeContentSource()
                ? Optional.of(source(request.getVolumeContentSource()))
                : Optional.empty();
        boolean readOnly = modes.stream().allMatch(ClaimAccessMode::readOnly);
        Volume made = volumes.create(new VolumeRequest(name, capacity, parameters, readOnly, source));
        return CreateVolumeResponse.newBuilder()
                .setVolume(ProtoMessages.volume(made))
                .build();
    }

    private ContentSource source(VolumeContentSource source) {
        return switch (source.getTypeCase()) {
            case SNAPSHOT ->
                new ContentSource.FromSnapshot(ids.snapshot(
                        "volume_content_source.snapshot.snapshot_id",
                        source.getSnapshot().getSnapshotId()));
            case VOLUME -> {
                VolumeId id = ids.volume(
                        "volume_content_source.volume.volume_id",
                        source.getVolume().getVolumeId());
                if (!(id instanceof VolumeId.Provisioned volume)) {
                    throw new DriverException.InvalidRequest("volume_content_source.volume.volume_id " + id
                            + " is a static volume, which cannot be cloned");
                }
                yield new ContentSource.FromVolume(volume);
            }
            case TYPE_NOT_SET ->
                throw new DriverException.InvalidRequest("volume_content_source needs a snapshot or a volume");
        };
    }
}
