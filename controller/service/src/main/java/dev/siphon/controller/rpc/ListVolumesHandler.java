package dev.siphon.controller.rpc;

import csi.v1.ControllerGetVolumeHealthRequest;
import csi.v1.ControllerGetVolumeHealthResponse;
import csi.v1.ControllerListVolumeHealthRequest;
import csi.v1.ControllerListVolumeHealthResponse;
import csi.v1.ListVolumesRequest;
import csi.v1.ListVolumesResponse;
import dev.siphon.controller.volume.ClusterVolumeHealth;
import dev.siphon.controller.volume.PublishedNodes;
import dev.siphon.controller.volume.VolumeListing;
import dev.siphon.controller.volume.Volumes.Volume;
import java.util.Optional;

/// Handles the RPCs that list all volumes, and the health of one.
final class ListVolumesHandler {
    private final VolumeListing volumeListing;
    private final ClusterVolumeHealth health;
    private final Optional<PublishedNodes> attachments;
    private final RequestIds ids;

    /// @param attachments empty unless in attach mode
    ListVolumesHandler(
            VolumeListing volumeListing,
            ClusterVolumeHealth health,
            Optional<PublishedNodes> attachments,
            RequestIds ids) {
        this.volumeListing = volumeListing;
        this.health = health;
        this.attachments = attachments;
        this.ids = ids;
    }

    ListVolumesResponse list(ListVolumesRequest request) {
        VolumeListing.Page<Volume> page = volumeListing.volumes(request.getMaxEntries(), request.getStartingToken());
        return ListVolumesResponse.newBuilder()
                .addAllEntries(page.entries().stream().map(this::entry).toList())
                .setNextToken(page.next())
                .build();
    }

    private ListVolumesResponse.Entry entry(Volume volume) {
        ListVolumesResponse.Entry.Builder entry =
                ListVolumesResponse.Entry.newBuilder().setVolume(ProtoMessages.volume(volume));
        attachments.ifPresent(attached -> entry.getStatusBuilder().addAllPublishedNodeIds(attached.nodes(volume.id())));
        return entry.build();
    }

    ControllerGetVolumeHealthResponse health(ControllerGetVolumeHealthRequest request) {
        var id = ids.volume("volume_id", request.getVolumeId());
        RequestFields.secrets(request.getSecretsMap());
        return ControllerGetVolumeHealthResponse.newBuilder()
                .setVolumeHealth(ProtoMessages.health(health.of(id)))
                .build();
    }

    /// Leaves out healthy volumes, as CSI specifies; so a page may be short and still have a next one.
    ControllerListVolumeHealthResponse listHealth(ControllerListVolumeHealthRequest request) {
        RequestFields.secrets(request.getSecretsMap());
        VolumeListing.Page<ClusterVolumeHealth.Report> page =
                health.list(request.getMaxEntries(), request.getStartingToken());
        return ControllerListVolumeHealthResponse.newBuilder()
                .addAllEntries(
                        page.entries().stream().map(ProtoMessages::health).toList())
                .setNextToken(page.next())
                .build();
    }
}
