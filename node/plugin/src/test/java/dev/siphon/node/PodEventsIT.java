package dev.siphon.node;

import static dev.siphon.node.OpsPages.await;
import static dev.siphon.node.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import csi.v1.NodePublishVolumeRequest;
import csi.v1.VolumeCapability.AccessMode.Mode;
import dev.siphon.csi.Grants;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.kubernetes.FakeApi;
import dev.siphon.node.linux.Programs;
import dev.siphon.node.linux.Workplace;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// A ceph-fuse client stops and continues; checks the events that the pod's users see. The contract of `EventsApi`
/// covers that a real API accepts what the node sends.
@Tag("fuse")
final class PodEventsIT {
    private final Lab.Volume volume = Lab.createVolume(Lab.createGroup(1L << 30), 64L << 20);
    private final Workplace workplace = Workplace.create();
    private final FakeApi api = FakeApi.start();
    private final Path staging = workplace.directory("staging");

    @AfterEach
    void leaveNothing() {
        api.close();
        signal("KILL");
        workplace.close();
        Lab.evict(volume.id());
    }

    private NodeProcess start() {
        return NodeProcess.start(
                workplace.directory("node"),
                "--syscall-timeout=2",
                "--kubernetes-namespace=" + FakeApi.NAMESPACE,
                "--kubeconfig=" + api.kubeconfig(workplace.directory("config")));
    }

    private void signal(String signal) {
        Lab.clientsOf(volume.id())
                .forEach(process -> Programs.run(
                        "bash", "-c", "kill -s \"$1\" \"$2\"", "kill", signal, Long.toString(process.pid())));
    }

    private String granted() {
        VolumeId.Provisioned id = (VolumeId.Provisioned) volume.id();
        Grants.Grant grant = new Grants.Grant("u1", new TreeSet<>(List.of("vision")));
        return new Grants(Map.of(new Grants.GroupKey(id.cluster(), id.fileSystem(), id.group()), grant), Map.of())
                .toJson();
    }

    private List<String> told() {
        return api.events().stream()
                .map(event -> Stream.of("type", "reason", "message")
                        .map(field -> event.get(field).getAsString())
                        .reduce("", (all, field) -> all + field + " "))
                .toList();
    }

    private boolean answers(NodeProcess node, Path target) {
        try {
            var _ = node.stub().nodeGetVolumeStats(Requests.stats(volume, target));
            return true;
        } catch (StatusRuntimeException _) {
            return false;
        }
    }

    @Test
    void thePodIsToldByANodeThatWasStartedSince() throws IOException {
        workplace.directory("pod");
        Path target = workplace.path("pod/target");
        api.publish(granted());
        NodePublishVolumeRequest publish =
                Requests.publishForPod(volume, staging, target, Mode.MULTI_NODE_MULTI_WRITER, "vision");
        try (NodeProcess node = start()) {
            var _ = node.stub().nodeStageVolume(Requests.stage(volume, staging));
            var _ = node.stub().nodePublishVolume(publish);
        }
        try (NodeProcess node = start()) {
            assertTrue(answers(node, target));
            signal("STOP");
            refused(Code.UNAVAILABLE, () -> node.stub().nodeGetVolumeStats(Requests.stats(volume, target)));
            await(() -> told().size() == 1);
            signal("CONT");
            await(() -> answers(node, target));
            await(() -> told().size() == 2);
            node.unpublishAndUnstage(volume, staging, target);
        }
        assertTrue(
                told().getFirst().startsWith("Warning VolumeConditionAbnormal the mount of volume "), told()::toString);
        assertTrue(told().getFirst().contains("does not answer"), told()::toString);
        assertTrue(told().getLast().startsWith("Normal VolumeConditionNormal"), told()::toString);
        JsonObject pod = api.events().getFirst().getAsJsonObject("involvedObject");
        assertEquals("train", pod.get("name").getAsString());
        String key = volume.secrets().getOrDefault("userKey", "none");
        assertFalse(api.events().toString().contains(key), "no key in an event");
        assertEquals(List.of(), workplace.mounts());
        try (Stream<Path> left = Files.list(workplace.path("node/state/pods"))) {
            assertEquals(List.of(), left.toList());
        }
    }
}
