package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Daemon;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountTable;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/// Pods start and read datasets from the replicas on their node while no daemon of Ceph answers.
@Tag("kubernetes")
@AloneOnCluster
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class CephAwayIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final List<Daemon> CEPH = List.of(Daemon.MON, Daemon.MGR, Daemon.MDS, Daemon.OSD);

    /// How long Ceph is away at least.
    private static final Duration AWAY =
            Duration.ofMinutes(Long.parseLong(System.getenv().getOrDefault("AWAY_MINUTES", "0")));

    private static final int PODS = 20;
    private static final int WITHOUT = 5;

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant owner;

    @SuppressWarnings("NullAway.Init")
    private static Tenant reader;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset unknown;

    private static long pausedAt;

    @BeforeAll
    static void readThenStopCeph() {
        siphon = Installation.in(CLUSTER);
        owner = Tenant.ofAccount(CLUSTER, 55);
        reader = Tenant.ofAccount(CLUSTER, 56);
        dataset = SealedDataset.seal(CLUSTER, owner).declare(owner.account(), reader.account());
        unknown = SealedDataset.seal(CLUSTER, reader).declare(reader.account());
        owner.datasetClaim("data", dataset.reference());
        TestPod first = reading(owner, "first").succeeded();
        var _ = owner.pod("claimed-first", "cat /data/two/7")
                .withClaim("data")
                .create()
                .succeeded();
        var _ = Await.until("a replica of " + dataset.name(), Cluster.PATIENCE, CephAwayIT::isWhole);
        first.delete();
        owner.podCalled("claimed-first").delete();
        var _ = Await.until(
                "no mount of " + dataset.name(),
                Cluster.PATIENCE,
                () -> dataset.mounts().isEmpty());
        CEPH.forEach(Daemon::pause);
        pausedAt = System.nanoTime();
    }

    @AfterAll
    static void end() {
        CEPH.forEach(Daemon::restore);
        owner.close();
        reader.close();
        dataset.delete();
        unknown.delete();
    }

    private static boolean isWhole() {
        return IntStream.range(0, 2)
                .mapToObj(
                        disk -> GpuMachine.cache(disk).resolve(dataset.digest()).resolve("image"))
                .anyMatch(Files::exists);
    }

    private static TestPod reading(Tenant tenant, String name) {
        return tenant.pod(name, "cat /data/two/7 && cat /data/one/* | wc -c")
                .withDataset(dataset.reference())
                .create();
    }

    @Test
    @Order(1)
    void podsReadTheReplicaByNameAndByClaim() {
        allRead("away-");
    }

    private static void allRead(String prefix) {
        List<TestPod> pods = IntStream.range(0, PODS)
                .mapToObj(each -> each % 2 == 0
                        ? reading(owner, prefix + each)
                        : owner.pod(prefix + each, "cat /data/two/7 && cat /data/one/* | wc -c")
                                .withClaim("data")
                                .create())
                .toList();
        for (TestPod pod : pods) {
            assertEquals(
                    List.of("seven", "1275000"), pod.succeeded().log().lines().toList(), pod.name());
        }
        assertTrue(pods.getFirst().told("DatasetOffline").contains("from the replica on its node"));
        pods.forEach(TestPod::remove);
    }

    @Test
    @Order(2)
    void whoHasNoReplicaIsToldWhy() {
        List<TestPod> pods = IntStream.range(0, WITHOUT)
                .mapToObj(each -> reader.pod("without-" + each, "true")
                        .withDataset(unknown.reference())
                        .create())
                .toList();
        for (TestPod pod : pods) {
            var _ = pod.told("code = Unavailable desc = .*this node has not opened the dataset within 24h before");
        }
        pods.forEach(TestPod::remove);
    }

    @Test
    @Order(3)
    void aReaderWhoIsWithdrawnIsRefused() {
        assertEquals(
                "seven",
                reading(reader, "allowed").succeeded().log().lines().findFirst().orElse(""));
        var _ = CLUSTER.kubectl(
                "patch",
                "dataset",
                dataset.name(),
                "--type=merge",
                "--patch={\"spec\":{\"readers\":[\"" + owner.account() + "\"]}}");
        var _ = Await.until(
                "the published readers of " + dataset.name(),
                Cluster.PATIENCE,
                () -> !CLUSTER.kubectl("-n", Installation.NAMESPACE, "get", "configmap/siphon-grants", "-o", "yaml")
                        .contains("\"namespaces\":[\"" + owner.namespace() + "\",\"" + reader.namespace() + "\"]"));
        TestPod withdrawn = reading(reader, "withdrawn");
        var _ = withdrawn.told("code = PermissionDenied desc = .*is no reader of dataset");
        withdrawn.remove();
    }

    @Test
    @Order(4)
    void aNodeThatRestartsVerifiesAndServes() {
        String nodes = "daemonset/siphon-node"; // the controller is not ready without Ceph
        var _ = CLUSTER.kubectl("-n", Installation.NAMESPACE, "rollout", "restart", nodes);
        var _ = CLUSTER.kubectl("-n", Installation.NAMESPACE, "rollout", "status", "--timeout=120s", nodes);
        assertEquals(
                "seven",
                reading(owner, "restarted")
                        .succeeded()
                        .log()
                        .lines()
                        .findFirst()
                        .orElse(""));
    }

    /// By then Ceph has forgotten the node's clients.
    @Test
    @Order(5)
    void soTheyDoAtTheEnd() {
        var _ = Await.until(
                "Ceph is away for " + AWAY, AWAY.plusSeconds(1), () -> System.nanoTime() - pausedAt >= AWAY.toNanos());
        allRead("late-");
    }

    @Test
    @Order(6)
    void whenCephIsBackAllIsAsBefore() {
        TestPod pod = owner.pod("stays", "cat /data/two/7; sleep 600")
                .withDataset(dataset.reference())
                .create();
        var _ = pod.says("seven");
        assertEquals(List.of(), clients());
        CEPH.forEach(Daemon::resume);
        var _ = Await.until(
                "the image of " + dataset.name() + " is mounted",
                Duration.ofSeconds(60),
                () -> !clients().isEmpty());
        assertEquals(
                "seven",
                reading(owner, "after").succeeded().log().lines().findFirst().orElse(""));
        // a mgr that has just been resumed may not answer the first one within its 30 s
        var _ = Await.until(
                "an audit that finds nothing",
                Cluster.PATIENCE,
                () -> siphon.siphon("audit", "--json", "--pause", "3").exit() == 0);
    }

    private static List<String> clients() {
        String image = "/images/" + new Digest(dataset.digest()).beginning();
        return MountTable.read().entries().stream()
                .map(MountEntry::mountPoint)
                .filter(path -> path.endsWith(image))
                .toList();
    }
}
