package dev.siphon.controller.rpc;

import csi.v1.ControllerGetVolumeHealthRequest;
import csi.v1.ControllerGetVolumeHealthResponse;
import csi.v1.ControllerListVolumeHealthRequest;
import csi.v1.ControllerListVolumeHealthResponse;
import csi.v1.ListVolumesRequest;
import csi.v1.ListVolumesResponse;
import dev.siphon.controller.volume.Attachments;
import dev.siphon.controller.volume.Health;
import dev.siphon.controller.volume.Listings;
import dev.siphon.controller.volume.Volume;
import java.util.Optional;

/// The RPCs that go through all volumes, and the health of one.
final class ListVolumesHandler {
    private final Listings listings;
    private final Health health;
    private final Optional<Attachments> attachments;
    private final Ids ids;

    /// @param attachments in attach mode
    ListVolumesHandler(Listings listings, Health health, Optional<Attachments> attachments, Ids ids) {
        this.listings = listings;
        this.health = health;
        this.attachments = attachments;
        this.ids = ids;
    }

    ListVolumesResponse list(ListVolumesRequest request) {
        Listings.Page<Volume> page = listings.volumes(request.getMaxEntries(), request.getStartingToken());
        return ListVolumesResponse.newBuilder()
                .addAllEntries(page.entries().stream().map(this::entry).toList())
                .setNextToken(page.next())
                .build();
    }

    private ListVolumesResponse.Entry entry(Volume volume) {
        ListVolumesResponse.Entry.Builder entry =
                ListVolumesResponse.Entry.newBuilder().setVolume(Messages.volume(volume));
        attachments.ifPresent(attached -> entry.getStatusBuilder().addAllPublishedNodeIds(attached.nodes(volume.id())));
        return entry.build();
    }

    ControllerGetVolumeHealthResponse health(ControllerGetVolumeHealthRequest request) {
        var id = ids.volume("volume_id", request.getVolumeId());
        Fields.secrets(request.getSecretsMap());
        return ControllerGetVolumeHealthResponse.newBuilder()
                .setVolumeHealth(Messages.health(health.of(id)))
                .build();
    }

    /// Healthy volumes are left out, as CSI asks; so a page may hold less than was asked for and have a next one.
    ControllerListVolumeHealthResponse listHealth(ControllerListVolumeHealthRequest request) {
        Fields.secrets(request.getSecretsMap());
        Listings.Page<Health.Report> page = health.list(request.getMaxEntries(), request.getStartingToken());
        return ControllerListVolumeHealthResponse.newBuilder()
                .addAllEntries(page.entries().stream().map(Messages::health).toList())
                .setNextToken(page.next())
                .build();
    }
}
