package dev.siphon.node.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodeUnpublishVolumeRequest;
import csi.v1.VolumeCapability;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.StatusMapping;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.server.Deadlines;
import dev.siphon.node.RealDatasets;
import dev.siphon.node.device.AnyPlace;
import dev.siphon.node.inline.InlineDatasets;
import dev.siphon.node.inline.InlineVolumes;
import dev.siphon.node.inline.NeverOffline;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.mount.Mounters;
import dev.siphon.node.mount.NodeVolumes;
import dev.siphon.node.mount.OpenedDatasets;
import dev.siphon.node.mount.TargetPath;
import dev.siphon.node.mount.VolumeUse;
import dev.siphon.node.pod.Pod;
import dev.siphon.node.pod.PodEvents;
import dev.siphon.node.pod.PodHealth;
import dev.siphon.node.pod.PublishedPods;
import io.grpc.Status;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Errors in a pod's inline volume are reported before the controller is asked.
final class InlineVolumeHandlerTest {
    private static final VolumeId.DatasetVolume CLAIMED = new VolumeId.DatasetVolume(
            "lab", "cephfs", "0123456789".repeat(4), Optional.of("0123456789ab"), "/datasets/x");
    private static final String NAME = "csi-" + "0123456789abcdef".repeat(4);

    @TempDir
    private Path folder = Path.of("");

    private final BlockingCalls blocking = new BlockingCalls();
    private final List<String> questions = new ArrayList<>();

    @AfterEach
    void end() {
        blocking.close();
    }

    private InlineVolumeHandler calls() {
        Mounters none = new Mounters(List.of(), (_, _) -> {
            throw new AssertionError("nothing is to be mounted");
        });
        Path state = folder.resolve("state");
        NodeVolumes volumes = new NodeVolumes(
                state,
                none,
                RealDatasets.in(state),
                new OpenedDatasets(state.resolve("opened"), Duration.ZERO, InstantSource.system()),
                blocking,
                new NodeVolumes.Limits(Duration.ofSeconds(5), Duration.ofSeconds(5)));
        InlineDatasets refusing = (volume, pod, dataset, _) -> {
            questions.add(volume + " " + pod.namespace() + "/" + pod.name() + " " + dataset);
            throw new DriverException.AccessDenied("no reader");
        };
        return new InlineVolumeHandler(
                volumes,
                NeverOffline.in(folder, volumes, refusing),
                AnyPlace.of(
                        new PodHealth(
                                new PublishedPods(folder.resolve("pods")), PodEvents.NOWHERE, new PrometheusRegistry()),
                        blocking),
                new Deadlines(Duration.ofSeconds(20)));
    }

    private NodePublishVolumeRequest request(UnaryOperator<NodePublishVolumeRequest.Builder> change) {
        VolumeCapability.Builder capability = VolumeCapability.newBuilder();
        capability.getMountBuilder();
        capability.getAccessModeBuilder().setMode(VolumeCapability.AccessMode.Mode.SINGLE_NODE_WRITER);
        return change.apply(NodePublishVolumeRequest.newBuilder()
                        .setVolumeId(NAME)
                        .setVolumeCapability(capability)
                        .putVolumeContext("csi.storage.k8s.io/ephemeral", "true")
                        .putVolumeContext("csi.storage.k8s.io/pod.name", "train")
                        .putVolumeContext("csi.storage.k8s.io/pod.namespace", "u1")
                        .putVolumeContext("csi.storage.k8s.io/pod.uid", "1-2-3")
                        .putVolumeContext("csi.storage.k8s.io/serviceAccount.name", "default")
                        .putVolumeContext("dataset", "u1/imagenet"))
                .build();
    }

    private DriverException refusal(UnaryOperator<NodePublishVolumeRequest.Builder> change) {
        TargetPath target =
                TargetPath.parse("target_path", folder.resolve("mount").toString());
        return assertThrows(DriverException.class, () -> calls().publish(request(change), target));
    }

    @Test
    void theControllerIsAskedForThePodsDataset() {
        assertEquals("no reader", refusal(same -> same).getMessage());
        assertEquals(List.of(NAME + " u1/train u1/imagenet"), questions);
    }

    @ParameterizedTest(name = "{0}={1}")
    @CsvSource({
        "dataset, '', INVALID_ARGUMENT, which dataset",
        "owner, u2, INVALID_ARGUMENT, only dataset",
        "mountOptions, dev, INVALID_ARGUMENT, only dataset",
        "csi.storage.k8s.io/pod.uid, '', FAILED_PRECONDITION, podInfoOnMount"
    })
    void attributesAreChecked(String key, String value, Status.Code code, String word) {
        DriverException refused = refusal(request -> request.putVolumeContext(key, value));
        assertEquals(code, StatusMapping.toStatus(refused).getCode());
        assertTrue(refused.getMessage().contains(word), refused::getMessage);
        assertEquals(List.of(), questions);
    }

    @Test
    void noSecretIsTaken() {
        DriverException refused = refusal(request -> request.putSecrets("userKey", "AQBdF2Fl"));
        assertTrue(refused.getMessage().contains("nodePublishSecretRef"), refused::getMessage);
        assertFalse(refused.getMessage().contains("AQBdF2Fl"), refused::getMessage);
        assertTrue(refusal(request -> request.setVolumeId("csi-1")).getMessage().contains("volume_id"));
        assertEquals(List.of(), questions);
    }

    private void publishClaimed(Optional<Pod> pod) {
        TargetPath target =
                TargetPath.parse("target_path", folder.resolve("mount").toString());
        VolumeUse use = new VolumeUse(VolumeUse.PublishAccessMode.MULTI_NODE_READER_ONLY, List.of(), true);
        calls().publishClaimed(CLAIMED, Optional.empty(), pod, use, target);
    }

    @Test
    void theControllerIsAskedForThePodsClaim() {
        assertEquals(
                "no reader",
                assertThrows(
                                DriverException.AccessDenied.class,
                                () -> publishClaimed(Optional.of(new Pod("u1", "train", "1-2-3"))))
                        .getMessage());
        String name = DatasetAccess.nameOfClaimed("1-2-3", CLAIMED);
        assertEquals(List.of(name + " u1/train " + CLAIMED), questions);
        InlineVolumes.check(name);
        assertThrows(DriverException.InUse.class, () -> publishClaimed(Optional.empty()));
    }

    /// A claim's Secret has a key as long as old nodes exist that do not ask. The node asks only if the key is
    /// missing, and about no other kind of volume.
    @Test
    void aClaimOfADatasetIsAskedForWhereItsSecretHasNoKey() {
        assertTrue(calls().isAskedFor(CLAIMED, Map.of()));
        assertTrue(calls().isAskedFor(CLAIMED, Map.of("volumeID", CLAIMED.toString())));
        assertFalse(calls().isAskedFor(CLAIMED, Map.of("userID", "u", "userKey", "AQBdF2Fl")));
        assertFalse(calls().isAskedFor(CLAIMED, Map.of("userID", "u")), "a Secret that somebody has broken");
        assertFalse(calls().isAskedFor(VolumeId.tryParse("s1:lab:fs:g:v").orElseThrow(), Map.of()));
        Map<String, String> others =
                Map.of("volumeID", CLAIMED.forUse("vvvvvvvvvvvv").toString());
        assertThrows(DriverException.AccessDenied.class, () -> calls().isAskedFor(CLAIMED, others));
    }

    @Test
    void whatIsNoneIsTakenAwayByOthers() {
        TargetPath target =
                TargetPath.parse("target_path", folder.resolve("mount").toString());
        assertFalse(calls().unpublish(
                        NodeUnpublishVolumeRequest.newBuilder()
                                .setVolumeId(NAME)
                                .build(),
                        target));
    }
}
