package dev.siphon.node;

import static dev.siphon.node.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.node.fuse.FuseProgram;
import dev.siphon.node.fuse.FuseStart;
import dev.siphon.node.fuse.rpc.SupervisedFuse;
import dev.siphon.node.linux.ChildProcess;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.Programs;
import dev.siphon.node.linux.Workplace;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// ceph-fuse processes that outlive the node, against a real Ceph.
@Tag("fuse")
class FuseSupervisorIT {
    private static final long MIB = 1 << 20;
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private static String group = "";

    private final Workplace workplace = Workplace.create();
    private final ContainerGroup container = ContainerGroup.create();
    private FuseProcess supervisor = supervisor();
    private NodeProcess node = node();
    private final Lab.Volume volume = Lab.createVolume(group, 512 * MIB);
    private Path staging = Path.of("/");
    private Path target = Path.of("/");

    @BeforeAll
    static void makeAccount() {
        group = Lab.createGroup(2048 * MIB);
    }

    @BeforeEach
    void makePaths() {
        staging = workplace.directory("staging");
        workplace.directory("pod");
        target = workplace.path("pod/target");
    }

    @AfterEach
    void leaveNothing() {
        node.close();
        workplace.mounts().forEach(point -> Programs.run("umount", "--lazy", point));
        supervisor.close();
        container.close();
        workplace.close();
    }

    private FuseProcess supervisor() {
        return FuseProcess.start(workplace.directory("fuse"), Optional.of(container.path()));
    }

    private NodeProcess node() {
        return NodeProcess.start(
                workplace.directory("node"),
                "--mounter=fuse",
                "--fuse-socket=" + supervisor.endpoint().path());
    }

    private ProcessHandle client() {
        List<ProcessHandle> all = Lab.clientsOf(volume.id());
        assertEquals(1, all.size());
        return all.getFirst();
    }

    @Test
    void noReaderOrWriterNoticesThatTheNodeIsKilled() {
        node.stageAndPublish(volume, staging, target);
        assertEquals(supervisor.pid(), client().parent().orElseThrow().pid());
        try (Ticking pod = new Ticking(target)) {
            pod.goesOn();
            node.kill();
            pod.goesOn();
            node = node();
            pod.goesOn();
            node.stageAndPublish(volume, staging, target);
            pod.goesOn();
        }
        node.unpublishAndUnstage(volume, staging, target);
        assertEquals(List.of(), workplace.mounts());
        assertEquals(List.of(), Lab.clientsOf(volume.id()));
        OpsPages.await(() -> supervisor.log().contains("ended after its unmount"));
    }

    @Test
    void theKeyIsInNoArgumentEnvironmentLogOrError() throws IOException {
        String key = volume.secrets().getOrDefault("userKey", "");
        try (KeyWatch watch = new KeyWatch(key)) {
            node.stageAndPublish(volume, staging, target);
            node.unpublishAndUnstage(volume, staging, target);
            Map<String, String> stranger = new HashMap<>(volume.secrets());
            stranger.put("userID", "stranger");
            StatusRuntimeException e = assertThrows(
                    StatusRuntimeException.class,
                    () -> node.stub()
                            .nodeStageVolume(Requests.stage(
                                    new Lab.Volume(volume.id(), volume.path(), volume.context(), stranger), staging)));
            assertEquals(Code.PERMISSION_DENIED, e.getStatus().getCode());
            assertFalse(String.valueOf(e.getMessage()).contains(key), "in the error");
            assertEquals(List.of(), watch.seen());
        }
        assertTrue(supervisor.log().contains("\"user_key\":\"***\""), "the request is logged");
        assertFalse(supervisor.log().contains(key), "in the supervisor's log");
        assertFalse(node.log().contains(key), "in the node's log");
        assertEquals(
                "rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(workplace.path("fuse/run"))));
        assertEquals(
                "rw-------",
                PosixFilePermissions.toString(
                        Files.getPosixFilePermissions(supervisor.endpoint().path())));
    }

    @Test
    void aSecondStartOfTheSameMountStartsNothingAndOneOverItIsRefused() {
        node.stageAndPublish(volume, staging, target);
        ProcessHandle before = client();
        MountEntry root = MountTable.read().entries().stream()
                .filter(entry -> entry.mountPoint().startsWith(workplace.path("node/state/mounts") + "/"))
                .findFirst()
                .orElseThrow();
        SupervisedFuse fuse = new SupervisedFuse(supervisor.endpoint());
        // would exit at once if started
        FuseStart again = new FuseStart(
                FuseProgram.CEPH_FUSE,
                root.source(),
                Path.of(root.mountPoint()),
                List.of("--no-such-option"),
                Optional.empty());
        assertEquals(new ChildProcess.StartOutcome(true, true, ""), fuse.start(again, LIMIT));
        FuseStart over =
                new FuseStart(again.program(), "another", again.mountPoint(), again.arguments(), again.credentials());
        assertThrows(DriverException.OperationPending.class, () -> fuse.start(over, LIMIT));
        assertEquals(before, client());
        assertFalse(fuse.awaitEnd(FuseProgram.CEPH_FUSE, root.source(), Duration.ofMillis(100)));
        node.unpublishAndUnstage(volume, staging, target);
        assertTrue(fuse.awaitEnd(FuseProgram.CEPH_FUSE, root.source(), LIMIT));
    }

    @Test
    void aStartWhoseCallerIsKilledLeavesNoProcess() {
        Lab.Volume silent = volume.with(Map.of("monitors", "192.0.2.1:3300"));
        Thread caller = Thread.ofVirtual()
                .start(() -> assertThrows(
                        StatusRuntimeException.class,
                        () -> node.stub().nodeStageVolume(Requests.stage(silent, staging))));
        OpsPages.await(() -> !Lab.clientsOf(volume.id()).isEmpty());
        node.kill();
        OpsPages.await(() -> Lab.clientsOf(volume.id()).isEmpty());
        OpsPages.await(() -> !caller.isAlive());
        node = node();
        node.stageAndPublish(volume, staging, target);
        node.unpublishAndUnstage(volume, staging, target);
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void withoutTheSupervisorNothingIsMountedUntilItIsBack() {
        supervisor.kill();
        String said = refused(Code.UNAVAILABLE, () -> node.stub().nodeStageVolume(Requests.stage(volume, staging)));
        assertTrue(said.contains("`siphon fuse` does not answer") && said.contains("siphon-fuse"), said);
        supervisor = supervisor();
        node.stageAndPublish(volume, staging, target);
        node.unpublishAndUnstage(volume, staging, target);
    }
}
