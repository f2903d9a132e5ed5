package dev.siphon.controller.rpc;

import csi.v1.CapacityRange;
import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.ControllerGetVolumeHealthRequest;
import csi.v1.ControllerGetVolumeRequest;
import csi.v1.ControllerGrpc;
import csi.v1.ControllerListVolumeHealthRequest;
import csi.v1.ControllerModifyVolumeRequest;
import csi.v1.ControllerPublishVolumeRequest;
import csi.v1.ControllerUnpublishVolumeRequest;
import csi.v1.CreateVolumeGroupSnapshotRequest;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteSnapshotRequest;
import csi.v1.DeleteVolumeGroupSnapshotRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.GetCapacityRequest;
import csi.v1.GetSnapshotRequest;
import csi.v1.GetVolumeGroupSnapshotRequest;
import csi.v1.GroupControllerGrpc;
import csi.v1.ListSnapshotsRequest;
import csi.v1.ListVolumesRequest;
import csi.v1.Snapshot;
import csi.v1.ValidateVolumeCapabilitiesRequest;
import csi.v1.Volume;
import csi.v1.VolumeCapability.AccessMode.Mode;
import csi.v1.VolumeContentSource;
import csi.v1.VolumeGroupSnapshot;
import dev.siphon.controller.volume.InterceptedPorts;
import dev.siphon.csi.fuzz.Rpc;
import io.grpc.Channel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/// A controller in attach mode over a Ceph in memory, with a volume of each kind, a snapshot and a group of
/// snapshots. Their ids are the same in each run.
final class FuzzedController implements AutoCloseable {
    private static final String NODE = "node-1@192.0.2.1";
    private static final String STATIC = "static:lab:fs:/data";

    private final AtomicInteger calls = new AtomicInteger();
    private final ServedController served = ServedController.start(
            true,
            ports -> InterceptedPorts.of(ports, (_, make) -> {
                calls.incrementAndGet();
                return make.get();
            }));
    private final Volume volume;
    private final Volume view;
    private final Snapshot snapshot;
    private final VolumeGroupSnapshot group;

    private FuzzedController() {
        served.ceph().clonesTake(0);
        volume = create(Requests.createVolume("pvc-1"));
        snapshot = served.controller()
                .createSnapshot(
                        Requests.createSnapshot(volume.getVolumeId(), "snap-1").build())
                .getSnapshot();
        view = create(fromSnapshot("view")
                .clearVolumeCapabilities()
                .addVolumeCapabilities(Requests.mount(Mode.MULTI_NODE_READER_ONLY)));
        group = served.groups()
                .createVolumeGroupSnapshot(
                        group("group-1", create(Requests.createVolume("pvc-2")).getVolumeId())
                                .build())
                .getGroupSnapshot();
    }

    static FuzzedController start() {
        return new FuzzedController();
    }

    private Volume create(CreateVolumeRequest.Builder request) {
        return served.controller().createVolume(request.build()).getVolume();
    }

    private CreateVolumeRequest.Builder fromSnapshot(String name) {
        return Requests.createVolume(name)
                .setVolumeContentSource(VolumeContentSource.newBuilder()
                        .setSnapshot(VolumeContentSource.SnapshotSource.newBuilder()
                                .setSnapshotId(snapshot.getSnapshotId())));
    }

    private CreateVolumeGroupSnapshotRequest.Builder group(String name, String other) {
        return CreateVolumeGroupSnapshotRequest.newBuilder()
                .setName(name)
                .addSourceVolumeIds(volume.getVolumeId())
                .addSourceVolumeIds(other);
    }

    Channel channel() {
        return served.channel();
    }

    /// Returns the number of calls to Ceph.
    int calls() {
        return calls.get();
    }

    List<String> everything() {
        return served.ceph().everything();
    }

    /// Returns texts that are meaningful in some field.
    List<String> words() {
        List<String> words = new ArrayList<>(List.of(
                volume.getVolumeId(),
                view.getVolumeId(),
                snapshot.getSnapshotId(),
                group.getGroupSnapshotId(),
                group.getSnapshots(0).getSnapshotId(),
                volume.getVolumeId().replace("s1:", "s2:"),
                snapshot.getSnapshotId().replace("s1:", "s3:"),
                group.getGroupSnapshotId().replace("s1g:", "s2g:"),
                volume.getVolumeId().replace("lab", "other"),
                volume.getVolumeId().replace(":fs:", ":fs2:"),
                BadRequests.MISSING_VOLUME,
                BadRequests.MISSING_SNAPSHOT,
                STATIC,
                "static:lab:fs:/missing",
                NODE,
                "node-2@192.0.2.2",
                "node-1"));
        words.addAll(List.of("pvc-1", "pvc-2", "view", "snap-1", "group-1", "new", "u1", "lab", "fs", "data", "fast"));
        words.addAll(List.of("cluster", "fsName", "dataPool", "owner", "uid", "gid", "mode", "quotaFiles", "mounter"));
        words.addAll(List.of("mountOptions", "snapshotBacked", "kernel", "fuse", "auto", "true", "false", "0750", "7"));
        words.addAll(
                List.of("noatime", "rsize=4096", "monitors", "mountPath", "dataPath", "userID", "userKey", "ext4"));
        words.addAll(List.of("containerUser", "root", "account", "1000:100"));
        return words;
    }

    /// Returns every RPC with fields.
    List<Rpc<?>> rpcs() {
        List<Rpc<?>> rpcs = new ArrayList<>(volumes());
        rpcs.addAll(looks());
        rpcs.addAll(snapshots());
        return rpcs;
    }

    private List<Rpc<?>> volumes() {
        String id = volume.getVolumeId();
        return List.of(
                new Rpc<>(
                        ControllerGrpc.getCreateVolumeMethod(),
                        Requests.createVolume("new")
                                .putParameters("quotaFiles", "7")
                                .putModifiableParameters("mode", "0750")
                                .build()),
                new Rpc<>(
                        ControllerGrpc.getCreateVolumeMethod(),
                        fromSnapshot("new").build()),
                new Rpc<>(
                        ControllerGrpc.getCreateVolumeMethod(),
                        Requests.createVolume("new")
                                .setVolumeContentSource(VolumeContentSource.newBuilder()
                                        .setVolume(VolumeContentSource.VolumeSource.newBuilder()
                                                .setVolumeId(id)))
                                .build()),
                new Rpc<>(
                        ControllerGrpc.getDeleteVolumeMethod(),
                        DeleteVolumeRequest.newBuilder().setVolumeId(id).build()),
                new Rpc<>(
                        ControllerGrpc.getControllerPublishVolumeMethod(),
                        ControllerPublishVolumeRequest.newBuilder()
                                .setVolumeId(id)
                                .setNodeId(NODE)
                                .setVolumeCapability(Requests.writer())
                                .putAllVolumeContext(volume.getVolumeContextMap())
                                .build()),
                new Rpc<>(
                        ControllerGrpc.getControllerUnpublishVolumeMethod(),
                        ControllerUnpublishVolumeRequest.newBuilder()
                                .setVolumeId(id)
                                .setNodeId(NODE)
                                .build()),
                new Rpc<>(
                        ControllerGrpc.getControllerExpandVolumeMethod(),
                        ControllerExpandVolumeRequest.newBuilder()
                                .setVolumeId(id)
                                .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(2 * Requests.GIB))
                                .setVolumeCapability(Requests.writer())
                                .build()),
                new Rpc<>(
                        ControllerGrpc.getControllerModifyVolumeMethod(),
                        ControllerModifyVolumeRequest.newBuilder()
                                .setVolumeId(id)
                                .putMutableParameters("quotaFiles", "7")
                                .build()));
    }

    private List<Rpc<?>> looks() {
        String id = volume.getVolumeId();
        return List.of(
                new Rpc<>(
                        ControllerGrpc.getValidateVolumeCapabilitiesMethod(),
                        ValidateVolumeCapabilitiesRequest.newBuilder()
                                .setVolumeId(id)
                                .addVolumeCapabilities(Requests.writer())
                                .putAllVolumeContext(volume.getVolumeContextMap())
                                .build()),
                new Rpc<>(
                        ControllerGrpc.getListVolumesMethod(),
                        ListVolumesRequest.newBuilder().setMaxEntries(2).build()),
                new Rpc<>(
                        ControllerGrpc.getGetCapacityMethod(),
                        GetCapacityRequest.newBuilder()
                                .putParameters("owner", "u1")
                                .build()),
                new Rpc<>(
                        ControllerGrpc.getControllerGetVolumeMethod(),
                        ControllerGetVolumeRequest.newBuilder().setVolumeId(id).build()),
                new Rpc<>(
                        ControllerGrpc.getControllerGetVolumeHealthMethod(),
                        ControllerGetVolumeHealthRequest.newBuilder()
                                .setVolumeId(id)
                                .build()),
                new Rpc<>(
                        ControllerGrpc.getControllerListVolumeHealthMethod(),
                        ControllerListVolumeHealthRequest.newBuilder()
                                .setMaxEntries(2)
                                .build()));
    }

    private List<Rpc<?>> snapshots() {
        List<String> members =
                group.getSnapshotsList().stream().map(Snapshot::getSnapshotId).toList();
        return List.of(
                new Rpc<>(
                        ControllerGrpc.getCreateSnapshotMethod(),
                        Requests.createSnapshot(volume.getVolumeId(), "new").build()),
                new Rpc<>(
                        ControllerGrpc.getDeleteSnapshotMethod(),
                        DeleteSnapshotRequest.newBuilder()
                                .setSnapshotId(BadRequests.MISSING_SNAPSHOT)
                                .build()),
                new Rpc<>(
                        ControllerGrpc.getListSnapshotsMethod(),
                        ListSnapshotsRequest.newBuilder()
                                .setSourceVolumeId(volume.getVolumeId())
                                .build()),
                new Rpc<>(
                        ControllerGrpc.getGetSnapshotMethod(),
                        GetSnapshotRequest.newBuilder()
                                .setSnapshotId(snapshot.getSnapshotId())
                                .build()),
                new Rpc<>(
                        GroupControllerGrpc.getCreateVolumeGroupSnapshotMethod(),
                        group("new", group.getSnapshots(1).getSourceVolumeId()).build()),
                new Rpc<>(
                        GroupControllerGrpc.getDeleteVolumeGroupSnapshotMethod(),
                        DeleteVolumeGroupSnapshotRequest.newBuilder()
                                .setGroupSnapshotId(group.getGroupSnapshotId())
                                .addAllSnapshotIds(members)
                                .build()),
                new Rpc<>(
                        GroupControllerGrpc.getGetVolumeGroupSnapshotMethod(),
                        GetVolumeGroupSnapshotRequest.newBuilder()
                                .setGroupSnapshotId(group.getGroupSnapshotId())
                                .addAllSnapshotIds(members)
                                .build()));
    }

    @Override
    public void close() {
        served.close();
    }
}
