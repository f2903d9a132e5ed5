package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.warm.WarmupController;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A pod waits at the gate while the API server, the network to it, or the controller's clock fails. The gate opens
/// once the dataset is complete, not earlier, and nodes get each order once.
@Tag("kubernetes")
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class GateFaultsIT {
    private static final Duration SOON = Duration.ofSeconds(90);
    /// Several reconciliations of the gate.
    private static final Duration LONG = Duration.ofSeconds(5);

    private final BackgroundTasks tasks = new BackgroundTasks();
    private TestCluster cluster;
    private GateObjects objects;

    private Path folder = Path.of("");

    @BeforeAll
    void start(@TempDir Path own) {
        folder = own;
        cluster = KubernetesLab.start(folder);
        KubernetesLab.serveReplicas(cluster.admin());
        objects = new GateObjects(cluster);
        objects.node("faulty-1");
    }

    @AfterAll
    void stop() {
        objects.removeNode("faulty-1");
        KubernetesLab.endReplicas(cluster.admin());
        cluster.close();
    }

    private static KubernetesAdapter adapter(KubernetesAccess access, InstantSource clock) {
        return KubernetesAdapter.open(access, "cephfs.siphon.dev", () -> TestCluster.PATIENT, clock);
    }

    /// @param name of the pod and of its dataset
    /// @param fault runs while the pod waits and its replica is filled
    private void assertGoesOn(String name, KubernetesAdapter adapter, Consumer<String> fault) {
        String dataset = "u1." + name;
        objects.beat("faulty-1");
        objects.awaitNode("faulty-1");
        try (adapter;
                WarmupController _ = objects.warming(adapter, List.of(dataset)).start(tasks)) {
            objects.pod(name, "u1/" + name);
            CephLab.await(SOON, () -> objects.replicas().containsKey(dataset));
            List<String> told = objects.replicas().getOrDefault(dataset, List.of());
            assertEquals(1, told.size());
            objects.report(told.getFirst(), Report.filling(1, 100, "/cache"));
            fault.accept(told.getFirst());
            assertFalse(objects.isOpen(name), "its dataset is not whole yet");
            objects.beat("faulty-1");
            objects.report(told.getFirst(), Report.local(100, "/cache"));
            CephLab.await(SOON, () -> objects.isOpen(name));
            assertEquals(Map.of(), tasks.failures());
        }
    }

    @Test
    void theApiServerIsStartedAgain() {
        assertGoesOn("restarted", adapter(cluster.access(), InstantSource.system()), _ -> {
            CephLab.daemon("sig", "KILL", "kube-apiserver");
            CephLab.daemon("start", "kube-apiserver");
            KubernetesLab.awaitApi(cluster, SOON);
        });
    }

    @Test
    void watchesAreCutWithoutAWord() throws Exception {
        try (Relay relay = Relay.to(cluster.access())) {
            KubernetesAccess relayed = relay.access(cluster.access(), folder);
            assertGoesOn("cut", adapter(relayed, InstantSource.system()), _ -> relay.forget());
        }
    }

    /// A clock that is ahead could treat every node as silent, and open every gate at once.
    @ParameterizedTest
    @ValueSource(strings = {"PT5M", "-PT5M"})
    void theControllersClockIsFiveMinutesOff(Duration ahead) {
        InstantSource wrong = InstantSource.offset(InstantSource.system(), ahead);
        String name = ahead.isNegative() ? "behind" : "ahead";
        assertGoesOn(name, adapter(cluster.access(), wrong), replica -> {
            long end = System.nanoTime() + LONG.toNanos();
            for (int percent = 2; System.nanoTime() < end; percent = Math.min(percent + 1, 99)) {
                objects.report(replica, Report.filling(percent, 100, "/cache"));
                assertFalse(objects.isOpen(name));
            }
        });
    }
}
