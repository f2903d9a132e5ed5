package dev.siphon.e2e.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.CapacityRange;
import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.ControllerGetVolumeRequest;
import csi.v1.ControllerModifyVolumeRequest;
import csi.v1.CreateVolumeGroupSnapshotRequest;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteVolumeGroupSnapshotRequest;
import csi.v1.GetCapacityRequest;
import csi.v1.ListVolumesRequest;
import csi.v1.Snapshot;
import csi.v1.ValidateVolumeCapabilitiesRequest;
import csi.v1.Volume;
import csi.v1.VolumeGroupSnapshot;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.lab.Lab;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Counts the round trips of each RPC to mon, mgr and MDS, so that no cost grows unnoticed. No RPC talks to an OSD.
/// A probe reads one or two directories.
@ExtendWith(LeavesNothingBehind.class)
final class RoundTripsIT {
    @Test
    void createVolumeIsOneCommandOnceTheGroupIsKnown() {
        try (Setup setup = Setup.start()) {
            RoundTrips sent = new RoundTrips(setup.controllerProcess());

            assertEquals(
                    Map.of(
                            "mgr fs subvolume ls", 1,
                            "mgr fs subvolumegroup create", 1,
                            "mds set note", 1,
                            "mds probe for a change", 1,
                            "mgr fs subvolume create", 1),
                    sent.of(() -> setup.volume("first-of-account", "u5", Requests.GIB)));
            assertEquals(
                    Map.of("mds probe for a change", 1, "mgr fs subvolume create", 1),
                    sent.of(() -> setup.volume("next", "u5", Requests.GIB)));
            assertEquals(Map.of("mgr fs subvolume info", 1), sent.of(() -> setup.volume("next", "u5", Requests.GIB)));
        }
        try (Setup setup = Setup.start()) {
            RoundTrips sent = new RoundTrips(setup.controllerProcess());
            assertEquals(
                    Map.of("mgr fs subvolume ls", 1, "mds probe for a change", 1, "mgr fs subvolume create", 1),
                    sent.of(() -> setup.volume("first-since-start", "u5", Requests.GIB)));
        }
    }

    /// An account with an allowance costs one extra reading of its usage, at its first use since the start.
    @Test
    void anAllowanceCostsNothingOnceTheAccountIsKnown() {
        try (Setup setup = Setup.start()) {
            RoundTrips sent = new RoundTrips(setup.controllerProcess());
            assertEquals(
                    Map.of(
                            "mgr fs subvolume ls", 1,
                            "mgr fs subvolumegroup create", 1,
                            "mds set note", 1,
                            "mds probe for a change", 1,
                            "mgr fs subvolume create", 1),
                    sent.of(() -> setup.volume(allowed("first-of-account"))));
            assertEquals(
                    Map.of("mds probe for a change", 1, "mgr fs subvolume create", 1),
                    sent.of(() -> setup.volume(allowed("next"))));
        }
        try (Setup setup = Setup.start()) {
            RoundTrips sent = new RoundTrips(setup.controllerProcess());
            assertEquals(
                    Map.of(
                            "mgr fs subvolume ls",
                            1,
                            "mds sum up group",
                            1,
                            "mds probe for a change",
                            1,
                            "mgr fs subvolume create",
                            1),
                    sent.of(() -> setup.volume(allowed("first-since-start"))));
            assertEquals(
                    Map.of("mds probe for a change", 1, "mgr fs subvolume create", 1),
                    sent.of(() -> setup.volume(allowed("another"))));
            Volume volume = setup.volume(allowed("snapshotted"));
            assertEquals(
                    Map.of(
                            "mgr fs subvolume info",
                            1,
                            "mds probe for a change",
                            1,
                            "mgr fs subvolume snapshot create",
                            1,
                            "mds list snapshot",
                            1,
                            "mds measure snapshot",
                            1,
                            "mds note snapshot",
                            1,
                            "mgr fs subvolume snapshot info",
                            1,
                            "mds find data directory",
                            1,
                            "mds get quota",
                            1,
                            "mds get time of snapshot",
                            1),
                    sent.of(() -> setup.snapshot("counted", volume)),
                    "CreateSnapshot");
        }
    }

    private static CreateVolumeRequest allowed(String name) {
        return Requests.volume(name, "u6", Requests.GIB).toBuilder()
                .putParameters("allowance", "100Gi")
                .build();
    }

    @Test
    void eachRpcOfAVolume() {
        try (Setup setup = Setup.start()) {
            RoundTrips sent = new RoundTrips(setup.controllerProcess());
            CsiClient controller = setup.controller();
            Volume volume = setup.volume("counted", "u3", Requests.GIB);
            String id = volume.getVolumeId();

            assertEquals(
                    Map.of("mgr fs subvolume info", 1),
                    sent.of(() -> controller
                            .controller()
                            .controllerGetVolume(ControllerGetVolumeRequest.newBuilder()
                                    .setVolumeId(id)
                                    .build())),
                    "ControllerGetVolume");
            assertEquals(
                    Map.of("mgr fs subvolume info", 1),
                    sent.of(() -> controller
                            .controller()
                            .validateVolumeCapabilities(ValidateVolumeCapabilitiesRequest.newBuilder()
                                    .setVolumeId(id)
                                    .addVolumeCapabilities(Requests.shared())
                                    .build())),
                    "ValidateVolumeCapabilities");
            assertEquals(
                    Map.of("mgr fs subvolume info", 1, "mds probe for a change", 1, "mgr fs subvolume resize", 1),
                    sent.of(expand(controller, id, 2 * Requests.GIB)),
                    "ControllerExpandVolume");
            assertEquals(
                    Map.of("mgr fs subvolume info", 1),
                    sent.of(expand(controller, id, 2 * Requests.GIB)),
                    "ControllerExpandVolume again");
            assertEquals(
                    Map.of("mgr fs subvolume info", 1, "mds set quota", 1),
                    sent.of(() -> controller
                            .controller()
                            .controllerModifyVolume(ControllerModifyVolumeRequest.newBuilder()
                                    .setVolumeId(id)
                                    .putMutableParameters("quotaFiles", "100")
                                    .build())),
                    "ControllerModifyVolume");
            assertEquals(
                    Map.of("mon df", 1),
                    sent.of(() -> controller.controller().getCapacity(GetCapacityRequest.getDefaultInstance())),
                    "GetCapacity");
            assertEquals(
                    Map.of("mgr fs subvolumegroup ls", 1),
                    sent.of(() -> controller.controller().listVolumes(ListVolumesRequest.getDefaultInstance())),
                    "ListVolumes");
            Map<String, Integer> trips =
                    Map.of("mds probe for a removal", 1, "mds flatten tree", 1, "mgr fs subvolume rm", 1);
            assertEquals(trips, sent.of(deletion(controller, id)), "DeleteVolume");
            assertEquals(trips, sent.of(deletion(controller, id)), "DeleteVolume again");
        }
    }

    @Test
    void eachRpcOfASnapshot() {
        try (Setup setup = Setup.start()) {
            RoundTrips sent = new RoundTrips(setup.controllerProcess());
            Volume volume = setup.volume("counted", "u3", Requests.GIB);
            Map<String, Integer> expected = Map.of(
                    "mgr fs subvolume info", 1,
                    "mds probe for a change", 1,
                    "mgr fs subvolume snapshot create", 1,
                    "mgr fs subvolume snapshot info", 1,
                    "mds find data directory", 1,
                    "mds get quota", 1,
                    "mds get time of snapshot", 1);

            assertEquals(expected, sent.of(() -> setup.snapshot("counted", volume)), "CreateSnapshot");
            assertEquals(expected, sent.of(() -> setup.snapshot("counted", volume)), "CreateSnapshot again");
            String id = setup.controller()
                    .controller()
                    .createSnapshot(Requests.snapshot("unneeded", volume.getVolumeId()))
                    .getSnapshot()
                    .getSnapshotId();
            assertEquals(
                    Map.of("mds probe for a change", 1, "mgr fs subvolume snapshot rm", 1),
                    sent.of(() -> setup.controller().controller().deleteSnapshot(Requests.deleteSnapshot(id))),
                    "DeleteSnapshot");
        }
    }

    @Test
    void eachWayToAVolumeWithContents() {
        try (Setup setup = Setup.start()) {
            RoundTrips sent = new RoundTrips(setup.controllerProcess());
            Volume volume = setup.volume("counted", "u3", Requests.GIB);
            var _ = setup.volume("of-another", "u4", Requests.GIB);
            String snapshot = setup.snapshot("counted", volume).getSnapshotId();

            assertEquals(
                    Map.of(
                            "mgr fs subvolume info", 1,
                            "mds find data directory", 1,
                            "mds get quota", 1,
                            "mds probe for a change", 3,
                            "mgr fs subvolume snapshot clone", 1,
                            "mgr fs subvolume resize", 1,
                            "mgr fs subvolume metadata set", 1),
                    withoutPolls(sent.of(() -> setup.volume(
                            Requests.fromSnapshot(Requests.volume("clone", "u3", Requests.GIB), snapshot)))),
                    "from a snapshot");
            assertEquals(
                    Map.of(
                            "mgr fs subvolume info",
                            1,
                            "mds probe for a change",
                            5,
                            "mgr fs subvolume snapshot create",
                            1,
                            "mgr fs subvolume snapshot clone",
                            1,
                            "mgr fs subvolume resize",
                            1,
                            "mgr fs subvolume metadata set",
                            1,
                            "mgr fs subvolume snapshot rm",
                            1),
                    withoutPolls(sent.of(() -> setup.volume(Requests.fromVolume(
                            Requests.volume("clone-of-volume", "u3", Requests.GIB), volume.getVolumeId())))),
                    "from a volume");
            assertEquals(
                    Map.of(
                            "mgr fs subvolume info", 1,
                            "mgr fs subvolume snapshot info", 1,
                            "mds find data directory", 1,
                            "mds get quota", 1,
                            "mds probe for a change", 1,
                            "mgr fs subvolume create", 1),
                    sent.of(() -> setup.volume(Requests.readOnly(
                            Requests.fromSnapshot(Requests.volume("shallow", "u3", Requests.GIB), snapshot)))),
                    "backed by a snapshot");
            assertEquals(
                    Map.of(
                            "mgr fs subvolume info", 2,
                            "mgr fs subvolume snapshot info", 1,
                            "mds find data directory", 2,
                            "mds get quota", 1,
                            "mds probe for a change", 2,
                            "mgr fs subvolume create", 1,
                            "mgr fs subvolume metadata set", 1),
                    sent.of(() -> setup.volume(Requests.acrossAccounts(
                            Requests.fromSnapshot(Requests.volume("copy", "u4", Requests.GIB), snapshot)))),
                    "for another account, beside the copy itself");
        }
    }

    @Test
    void eachRpcOfAGroupOfSnapshots() {
        try (Setup setup = Setup.start()) {
            RoundTrips sent = new RoundTrips(setup.controllerProcess());
            CreateVolumeGroupSnapshotRequest request = CreateVolumeGroupSnapshotRequest.newBuilder()
                    .setName("counted")
                    .addSourceVolumeIds(setup.volume("one", "u3", Requests.GIB).getVolumeId())
                    .addSourceVolumeIds(setup.volume("two", "u3", Requests.GIB).getVolumeId())
                    .build();
            Supplier<VolumeGroupSnapshot> take = () -> setup.controller()
                    .groups()
                    .createVolumeGroupSnapshot(request)
                    .getGroupSnapshot();

            Map<String, Integer> taken = sent.of(take);
            VolumeGroupSnapshot group = take.get();
            Map<String, Integer> removed = sent.of(() -> setup.controller()
                    .groups()
                    .deleteVolumeGroupSnapshot(DeleteVolumeGroupSnapshotRequest.newBuilder()
                            .setGroupSnapshotId(group.getGroupSnapshotId())
                            .addAllSnapshotIds(group.getSnapshotsList().stream()
                                    .map(Snapshot::getSnapshotId)
                                    .toList())
                            .build()));

            // Ceph 18 rejects the first `fs quiesce`, so there is no second one to end it
            int quiesces = Lab.here().canQuiesce() ? 2 : 1;
            assertEquals(
                    Map.of(
                            "mgr fs quiesce", quiesces,
                            "mgr fs subvolume info", 2,
                            "mds probe for a change", 2,
                            "mgr fs subvolume snapshot create", 2,
                            "mgr fs subvolume snapshot info", 4,
                            "mds find data directory", 2,
                            "mds get quota", 2,
                            "mds get time of snapshot", 2),
                    taken,
                    "CreateVolumeGroupSnapshot");
            // no snapshot is removed before all are known to be removable
            assertEquals(
                    Map.of(
                            "mgr fs subvolume snapshot info",
                            2,
                            "mds probe for a change",
                            2,
                            "mgr fs subvolume snapshot rm",
                            2),
                    removed,
                    "DeleteVolumeGroupSnapshot");
        }
    }

    /// Removes the polls for the clone's end and for its release of the source. Their number depends on the mgr,
    /// which starts a clone within some seconds.
    private static Map<String, Integer> withoutPolls(Map<String, Integer> sent) {
        for (String poll : List.of("mgr fs clone status", "mgr fs subvolume snapshot info")) {
            Integer polls = sent.remove(poll);
            assertTrue(polls != null && polls >= 1, () -> "no " + poll + ": " + sent);
        }
        return sent;
    }

    private static Supplier<?> expand(CsiClient controller, String id, long bytes) {
        return () -> controller
                .controller()
                .controllerExpandVolume(ControllerExpandVolumeRequest.newBuilder()
                        .setVolumeId(id)
                        .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(bytes))
                        .build());
    }

    private static Supplier<?> deletion(CsiClient controller, String id) {
        return () -> controller.controller().deleteVolume(Requests.delete(id));
    }
}
