package dev.siphon.e2e.crash;

import csi.v1.CreateVolumeGroupSnapshotRequest;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteVolumeGroupSnapshotRequest;
import csi.v1.Snapshot;
import csi.v1.VolumeGroupSnapshot;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.Requests;
import java.util.List;
import java.util.function.Consumer;

/// An RPC during which a controller is killed.
///
/// @param fresh whether the controller restarts before the RPC, so that it has cached nothing
/// @param arrange creates what the RPC needs
/// @param act makes the RPC; also its retry
/// @param undo removes what `arrange` and `act` created
record Scenario(String name, boolean fresh, Consumer<Site> arrange, Act act, Consumer<Site> undo) {
    private static final String VOLUME = "volume";
    private static final String OTHER = "other";
    private static final String SNAPSHOT = "snapshot";
    private static final String MADE = "made";

    /// Precedes a volume's name: that volume's snapshot in the group snapshot.
    private static final String MEMBER = "snapshot of ";

    /// The RPC itself.
    @FunctionalInterface
    interface Act {
        void call(Site site, CsiClient client);
    }

    @Override
    public String toString() {
        return name;
    }

    static List<Scenario> ofVolumes() {
        Act create = (site, client) -> create(site, client, MADE, site.volume(MADE));
        Act delete = (site, client) -> client.controller().deleteVolume(Requests.delete(site.id(VOLUME)));
        Consumer<Site> arrangeSnapshot = site -> {
            arrangeVolume(site);
            site.call(client -> snapshot(site, client, SNAPSHOT, VOLUME));
        };
        return List.of(
                new Scenario("CreateVolume", false, _ -> {}, create, site -> delete(site, MADE)),
                new Scenario("CreateVolume, a controller's first", true, _ -> {}, create, site -> delete(site, MADE)),
                new Scenario(
                        "CreateVolume, an account's first",
                        true,
                        Site::removeGroup,
                        create,
                        site -> delete(site, MADE)),
                new Scenario("DeleteVolume", false, Scenario::arrangeVolume, delete, _ -> {}),
                new Scenario("DeleteVolume with a snapshot", false, arrangeSnapshot, delete, Scenario::deleteSnapshot),
                new Scenario(
                        "DeleteVolume backed by a snapshot",
                        false,
                        site -> {
                            arrangeSnapshot.accept(site);
                            site.call(client -> create(site, client, MADE, shallow(site)));
                        },
                        (site, client) -> client.controller().deleteVolume(Requests.delete(site.id(MADE))),
                        site -> {
                            deleteSnapshot(site);
                            delete(site, VOLUME);
                        }));
    }

    static List<Scenario> ofSnapshots() {
        Act snapshot = (site, client) -> snapshot(site, client, SNAPSHOT, VOLUME);
        return List.of(
                new Scenario("CreateSnapshot", false, Scenario::arrangeVolume, snapshot, site -> {
                    deleteSnapshot(site);
                    delete(site, VOLUME);
                }),
                new Scenario(
                        "DeleteSnapshot",
                        false,
                        site -> {
                            arrangeVolume(site);
                            site.call(client -> snapshot(site, client, SNAPSHOT, VOLUME));
                        },
                        (site, client) ->
                                client.controller().deleteSnapshot(Requests.deleteSnapshot(site.id(SNAPSHOT))),
                        site -> delete(site, VOLUME)),
                new Scenario(
                        "CreateVolumeGroupSnapshot",
                        false,
                        site -> {
                            arrangeVolume(site);
                            site.call(client -> create(site, client, OTHER, site.volume(OTHER)));
                        },
                        Scenario::groupSnapshot,
                        site -> {
                            deleteGroupSnapshot(site);
                            delete(site, VOLUME);
                            delete(site, OTHER);
                        }));
    }

    static List<Scenario> ofContents() {
        return List.of(
                withSource(
                        "CreateVolume from a snapshot",
                        (site, client) -> create(
                                site, client, MADE, Requests.fromSnapshot(site.volume(MADE), site.id(SNAPSHOT)))),
                withSource(
                        "CreateVolume from a volume",
                        (site, client) ->
                                create(site, client, MADE, Requests.fromVolume(site.volume(MADE), site.id(VOLUME)))),
                withSource(
                        "CreateVolume backed by a snapshot",
                        (site, client) -> create(site, client, MADE, shallow(site))),
                withSource(
                        "CreateVolume from a snapshot, into another pool",
                        (site, client) -> create(
                                site,
                                client,
                                MADE,
                                Requests.fromSnapshot(site.volume(MADE), site.id(SNAPSHOT)).toBuilder()
                                        .putParameters("dataPool", "cephfs.data2")
                                        .build())));
    }

    private static Scenario withSource(String name, Act act) {
        return new Scenario(
                name,
                false,
                site -> {
                    arrangeVolume(site);
                    site.call(client -> snapshot(site, client, SNAPSHOT, VOLUME));
                },
                act,
                site -> {
                    delete(site, MADE);
                    deleteSnapshot(site);
                    delete(site, VOLUME);
                });
    }

    private static void arrangeVolume(Site site) {
        site.call(client -> create(site, client, VOLUME, site.volume(VOLUME)));
    }

    private static String create(Site site, CsiClient client, String as, CreateVolumeRequest request) {
        String id = client.controller().createVolume(request).getVolume().getVolumeId();
        site.remember(as, id);
        return id;
    }

    private static CreateVolumeRequest shallow(Site site) {
        return Requests.readOnly(Requests.fromSnapshot(site.volume(MADE), site.id(SNAPSHOT)));
    }

    private static String snapshot(Site site, CsiClient client, String as, String of) {
        Snapshot made = client.controller()
                .createSnapshot(Requests.snapshot(as, site.id(of)))
                .getSnapshot();
        site.remember(as, made.getSnapshotId());
        return made.getSnapshotId();
    }

    private static void groupSnapshot(Site site, CsiClient client) {
        VolumeGroupSnapshot made = client.groups()
                .createVolumeGroupSnapshot(CreateVolumeGroupSnapshotRequest.newBuilder()
                        .setName(SNAPSHOT)
                        .addSourceVolumeIds(site.id(VOLUME))
                        .addSourceVolumeIds(site.id(OTHER))
                        .build())
                .getGroupSnapshot();
        site.remember(SNAPSHOT, made.getGroupSnapshotId());
        for (Snapshot each : made.getSnapshotsList()) {
            String source = each.getSourceVolumeId().equals(site.id(VOLUME)) ? VOLUME : OTHER;
            site.remember(MEMBER + source, each.getSnapshotId());
        }
    }

    private static void deleteGroupSnapshot(Site site) {
        site.call(client -> client.groups()
                .deleteVolumeGroupSnapshot(DeleteVolumeGroupSnapshotRequest.newBuilder()
                        .setGroupSnapshotId(site.id(SNAPSHOT))
                        .addSnapshotIds(site.id(MEMBER + VOLUME))
                        .addSnapshotIds(site.id(MEMBER + OTHER))
                        .build()));
    }

    private static void delete(Site site, String name) {
        site.call(client -> client.controller().deleteVolume(Requests.delete(site.id(name))));
    }

    private static void deleteSnapshot(Site site) {
        site.call(client -> client.controller().deleteSnapshot(Requests.deleteSnapshot(site.id(SNAPSHOT))));
    }
}
