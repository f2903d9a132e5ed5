package dev.siphon.controller.rpc;

import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import csi.v1.VolumeContentSource;
import dev.siphon.controller.dataset.DatasetVolumes;
import dev.siphon.controller.grant.NamespaceGrants;
import dev.siphon.controller.seal.SealedSnapshots;
import dev.siphon.controller.volume.CapacityRange;
import dev.siphon.controller.volume.ClaimAccessMode;
import dev.siphon.controller.volume.ClassParameters;
import dev.siphon.controller.volume.ContentSource;
import dev.siphon.controller.volume.Volume;
import dev.siphon.controller.volume.VolumeClass;
import dev.siphon.controller.volume.VolumeRequest;
import dev.siphon.controller.volume.Volumes;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Optional;

/// Handles CreateVolume.
final class CreateVolumeHandler {
    private final Volumes volumes;
    private final RequestIds ids;
    private final Optional<DatasetVolumes> datasets;
    private final Optional<SealedSnapshots> sealed;
    private final Optional<NamespaceGrants> grants;

    /// @param datasets the datasets that volumes may show; empty if none can be declared
    /// @param sealed snapshots that are datasets; empty if nothing can seal them
    /// @param grants which namespaces may use a new volume; empty if that is not checked
    CreateVolumeHandler(
            Volumes volumes,
            RequestIds ids,
            Optional<DatasetVolumes> datasets,
            Optional<SealedSnapshots> sealed,
            Optional<NamespaceGrants> grants) {
        this.volumes = volumes;
        this.ids = ids;
        this.datasets = datasets;
        this.sealed = sealed;
        this.grants = grants;
    }

    CreateVolumeResponse handle(CreateVolumeRequest request) {
        String name = RequestFields.name("name", request.getName());
        List<ClaimAccessMode> modes = AccessModes.ofAll("volume_capabilities", request.getVolumeCapabilitiesList());
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
        Volume made = make(new VolumeRequest(name, capacity, parameters, readOnly, source));
        return CreateVolumeResponse.newBuilder()
                .setVolume(ProtoMessages.volume(made))
                .build();
    }

    private Volume make(VolumeRequest request) {
        Optional<String> dataset = datasets.flatMap(all -> all.wanted(request));
        if (dataset.isPresent()) {
            return show(request, dataset.get());
        }
        if (request.parameters().dataset().isPresent()) {
            throw new DriverException.InvalidRequest("parameter dataset: the controller knows no datasets; run it with"
                    + " --datasets-file or --kubernetes-namespace");
        }
        Optional<String> ofSnapshot = sealed.flatMap(all -> all.shownBy(request));
        if (ofSnapshot.isPresent()) {
            Volume shown = show(request.withoutSource(), ofSnapshot.get());
            return new Volume(shown.id(), shown.capacityBytes(), shown.context(), request.source());
        }
        return volumes.create(request);
    }

    private Volume show(VolumeRequest request, String dataset) {
        DatasetVolumes all = datasets.orElseThrow();
        DatasetVolumes.Shown shown = all.check(request, dataset);
        // This may be refused, so it comes before anything is created.
        grants.ifPresent(access -> access.share(
                shown.dataset().name(),
                shown.id().withoutClaim(),
                shown.dataset().isForEverybody(),
                shown.namespace()));
        return all.create(shown);
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
