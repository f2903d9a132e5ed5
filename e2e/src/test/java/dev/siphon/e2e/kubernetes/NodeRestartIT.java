package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Await;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Replaces Siphon's pods on a node under a pod that reads and writes over ceph-fuse. The node's pod may restart
/// at any time. Only the end of the `siphon-fuse` pod ends mounts; docs/how-to/symptoms.md describes that
/// case.
@Tag("kubernetes")
@AloneOnCluster
final class NodeRestartIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final String COUNTING =
            "i=0; while :; do i=$((i+1)); echo $i >/data/$HOSTNAME && cat /data/$HOSTNAME; sleep 1; done 2>&1";
    private static final int ROUNDS = 5;

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @BeforeAll
    static void write() {
        siphon = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 52);
        var _ = tenant.claim("data", "1Gi");
        var _ = tenant.pod("writer", "echo hello >/data/file")
                .withClaim("data")
                .create()
                .succeeded();
    }

    @AfterAll
    static void end() {
        tenant.close();
    }

    private static TestPod counting(String name) {
        TestPod pod = tenant.pod(name, COUNTING).withClaim("data").create();
        var _ = pod.says("^" + ROUNDS + "$");
        assertTrue(
                CLUSTER.cephMounts().stream().anyMatch(each -> each.endsWith("/globalmount")),
                () -> CLUSTER.cephMounts().toString());
        return pod;
    }

    @Test
    void aPodThatRunsNoticesNothingOfTheNodesNewPod() {
        TestPod pod = counting("counter");
        siphon.restartNodes();
        long reached = Long.parseLong(pod.lastLine());
        var _ = pod.says("^" + (reached + ROUNDS) + "$");
        assertEquals(
                List.of(),
                pod.log().lines().filter(line -> !line.matches("[0-9]+")).toList(),
                "errors of a reader and writer");
        pod.resource().delete();
    }

    @Test
    void eachProcessHasAControlGroupOfItsOwn() {
        TestPod pod = counting("limited");
        String log = siphon.fuseLog();
        assertFalse(log.contains("without a memory limit"), log);
        pod.resource().delete();
    }

    /// They share the node's PID namespace, so the container runtime has to end them.
    @Test
    void noProcessOutlivesTheContainerOfTheFusePod() {
        TestPod pod = counting("killed");
        List<ProcessHandle> served = ProcessHandle.allProcesses()
                .filter(each -> isProgram(each, "ceph-fuse"))
                .filter(each -> each.parent()
                        .filter(parent -> isProgram(parent, "java"))
                        .isPresent())
                .toList();
        assertFalse(served.isEmpty());

        boolean _ = served.getFirst().parent().orElseThrow().destroyForcibly();

        var _ = pod.says("not connected");
        var _ = Await.until(
                "no ceph-fuse of that container is left",
                Cluster.PATIENCE,
                () -> served.stream().noneMatch(ProcessHandle::isAlive));
        pod.delete();
    }

    private static boolean isProgram(ProcessHandle process, String name) {
        return process.info()
                .command()
                .filter(path -> path.endsWith("/" + name))
                .isPresent();
    }

    /// Ceph waits a minute for a client that died silently before it grants its capabilities to another.
    @Test
    void podsAfterTheFusePodHaveTheVolume() {
        TestPod before = counting("before");
        siphon.restartFuse();
        var _ = before.says("not connected");

        TestPod after = tenant.pod("after", "cat /data/file && echo again >/data/before")
                .withClaim("data")
                .create();
        assertEquals("hello", after.succeeded().log().strip());
        var _ = counting("anew");
        assertTrue(before.lastLine().contains("not connected"), "what is dead stays dead");
    }
}
