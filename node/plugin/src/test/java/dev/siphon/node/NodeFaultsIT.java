package dev.siphon.node;

import static dev.siphon.node.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.NodePublishVolumeRequest;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.Programs;
import dev.siphon.node.linux.Workplace;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The node's behavior when its clients die or hang, with ceph-fuse and a real Ceph.
@Tag("fuse")
class NodeFaultsIT {
    private static final long MIB = 1 << 20;
    private static final int LOOK_SECONDS = 2;

    private static Optional<Lab.Volume> first = Optional.empty();
    private static Optional<Lab.Volume> second = Optional.empty();

    private final Workplace workplace = Workplace.create();
    private final NodeProcess node =
            NodeProcess.start(workplace.directory("node"), "--syscall-timeout=" + LOOK_SECONDS, "--mount-timeout=10");
    private final Path staging = workplace.directory("staging");
    private Path target = Path.of("/");

    @BeforeAll
    static void makeVolumes() {
        String group = Lab.createGroup(1024 * MIB);
        first = Optional.of(Lab.createVolume(group, 64 * MIB));
        second = Optional.of(Lab.createVolume(group, 64 * MIB));
    }

    @BeforeEach
    void makePaths() {
        workplace.directory("pod");
        target = workplace.path("pod/target");
    }

    @AfterEach
    void leaveNothing() {
        node.close();
        workplace.close();
        clients().forEach(ProcessHandle::destroyForcibly);
        Lab.evict(volume().id());
    }

    private static Lab.Volume volume() {
        return first.orElseThrow();
    }

    private static List<ProcessHandle> clients() {
        return Lab.clientsOf(volume().id());
    }

    private static void signal(String signal) {
        // kill as a shell builtin: the lab has no other
        clients()
                .forEach(process -> Programs.run(
                        "bash", "-c", "kill -s \"$1\" \"$2\"", "kill", signal, Long.toString(process.pid())));
    }

    private static void killClients() throws Exception {
        for (ProcessHandle client : clients()) {
            client.destroyForcibly();
            client.onExit().get(10, TimeUnit.SECONDS);
        }
        Lab.evict(volume().id());
    }

    @Test
    void aDeadMountIsReportedAndHealedByStageAndPublish() throws Exception {
        node.stageAndPublish(volume(), staging, target);
        // a client that dies loses its unwritten data
        Files.writeString(target.resolve("before"), "before", StandardOpenOption.CREATE_NEW, StandardOpenOption.DSYNC);
        killClients();
        refused(Code.UNAVAILABLE, () -> node.stub().nodeGetVolumeStats(Requests.stats(volume(), target)));
        assertEquals("[MountDead]", node.health(volume()));
        refused(Code.UNAVAILABLE, () -> node.stub().nodePublishVolume(Requests.publish(volume(), staging, target)));

        node.stageAndPublish(volume(), staging, target);
        assertEquals("before", Files.readString(target.resolve("before")));
        assertEquals("[]", node.health(volume()));
        node.unpublishAndUnstage(volume(), staging, target);
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void publishHealsADeadMountIfItBringsTheSecrets() throws Exception {
        node.stageAndPublish(volume(), staging, target);
        killClients();
        NodePublishVolumeRequest request = Requests.publish(volume(), staging, target).toBuilder()
                .putAllSecrets(volume().secrets())
                .build();
        node.stub().nodePublishVolume(request);
        Files.writeString(target.resolve("after"), "after");
        node.unpublishAndUnstage(volume(), staging, target);
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void aDeadMountIsUnpublishedAndUnstaged() throws Exception {
        node.stageAndPublish(volume(), staging, target);
        killClients();
        node.unpublishAndUnstage(volume(), staging, target);
        assertEquals(List.of(), workplace.mounts());
        assertFalse(Files.exists(target));
    }

    @Test
    void aHungMountIsToldInTimeAndLeavesOthersAlone() throws Exception {
        node.stageAndPublish(volume(), staging, target);
        signal("STOP");
        List<Callable<Code>> looks = new ArrayList<>();
        AtomicLong slowest = new AtomicLong();
        for (int i = 0; i < 40; i++) {
            looks.add(() -> {
                long start = System.nanoTime();
                try {
                    var _ = node.stub().nodeGetVolumeStats(Requests.stats(volume(), target));
                    return Code.OK;
                } catch (StatusRuntimeException e) {
                    slowest.accumulateAndGet(System.nanoTime() - start, Math::max);
                    return e.getStatus().getCode();
                }
            });
        }
        try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Code>> hung = looks.stream().map(callers::submit).toList();
            Path other = workplace.directory("other");
            // starts a second client, which takes long on a busy machine
            node.stub(20).nodeStageVolume(Requests.stage(second.orElseThrow(), other));
            var _ = node.stub(5).nodeGetVolumeStats(Requests.stats(second.orElseThrow(), other));
            node.stub(20).nodeUnstageVolume(Requests.unstage(second.orElseThrow(), other));
            for (Future<Code> look : hung) {
                assertEquals(Code.UNAVAILABLE, look.get());
            }
            assertTrue(Duration.ofNanos(slowest.get()).toSeconds() < LOOK_SECONDS + 4, slowest.toString());
        }
        assertEquals("[MountNotResponding]", node.health(volume()));
        assertTrue(Programs.run("ls", "/proc/" + node.pid() + "/task").lines().count() < 60, "no thread per look");
        signal("CONT");
        node.unpublishAndUnstage(volume(), staging, target);
    }

    @Test
    void aHungMountIsReplacedByStage() throws IOException {
        node.stub().nodeStageVolume(Requests.stage(volume(), staging));
        Files.writeString(staging.resolve("before"), "before");
        signal("STOP");
        Lab.evict(volume().id());
        node.stub().nodeStageVolume(Requests.stage(volume(), staging));
        assertEquals("before", Files.readString(staging.resolve("before")));
        signal("CONT");
        node.stub().nodeUnstageVolume(Requests.unstage(volume(), staging));
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void aHungMountIsUnpublishedAndUnstaged() {
        node.stageAndPublish(volume(), staging, target);
        signal("STOP");
        refused(Code.UNAVAILABLE, () -> node.stub().nodeGetVolumeStats(Requests.stats(volume(), target)));
        node.unpublishAndUnstage(volume(), staging, target);
        assertEquals(List.of(), workplace.mounts());
        signal("CONT");
    }

    @Test
    void aClientThatGivesBackCapabilitiesLives() throws IOException {
        node.stageAndPublish(volume(), staging, target);
        for (int round = 0; round < 8; round++) {
            for (int i = 0; i < 50; i++) {
                Path directory = Files.createDirectories(target.resolve("d" + round + "-" + i));
                Files.writeString(directory.resolve("f"), "x");
            }
            Lab.ceph("tell", "mds.0", "cache", "drop", "2");
        }
        assertEquals("x", Files.readString(target.resolve("d0-0/f")));
        node.unpublishAndUnstage(volume(), staging, target);
    }

    @Test
    void monitorsThatDoNotAnswerAreUnavailable() {
        Lab.Volume lost = volume().with(java.util.Map.of("monitors", "127.0.0.1:9"));
        refused(Code.UNAVAILABLE, () -> node.stub().nodeStageVolume(Requests.stage(lost, staging)));
        assertEquals(List.of(), workplace.mounts());
        assertEquals(List.of(), clients());
    }

    @Test
    void wrongCredentialsAreDenied() {
        java.util.Map<String, String> unknown = new java.util.HashMap<>(volume().secrets());
        unknown.put("userID", "nobody");
        Lab.Volume asNobody = new Lab.Volume(volume().id(), volume().path(), volume().context(), unknown);
        refused(Code.PERMISSION_DENIED, () -> node.stub().nodeStageVolume(Requests.stage(asNobody, staging)));
        assertEquals(List.of(), clients());
    }

    @Test
    void whatAKilledRunLeftIsTakenAway() {
        Path left = workplace.directory("node/state/mounts/left");
        Programs.run("mount", "-t", "tmpfs", "left", left.toString());
        node.stub().nodeStageVolume(Requests.stage(volume(), staging));
        assertEquals(Optional.empty(), MountTable.read().at(left.toString()));
        assertFalse(Files.exists(left));
        node.stub().nodeUnstageVolume(Requests.unstage(volume(), staging));
    }
}
