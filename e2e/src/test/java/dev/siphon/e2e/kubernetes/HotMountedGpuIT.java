package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Await;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// A GPU that a running pod gets later, as GPUMounter does it: reads move to the disk that is then nearest.
@Tag("kubernetes")
@AloneOnCluster
final class HotMountedGpuIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final String POOL = "gpu-pool";
    private static final List<GpuMachine.Gpu> SIDES = List.of(GpuMachine.GPUS.get(1), GpuMachine.GPUS.get(5));

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    /// Its pods hold GPUs for others.
    @SuppressWarnings("NullAway.Init")
    private static Tenant pool;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    @BeforeAll
    static void seal() {
        siphon = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 42);
        pool = Tenant.of(CLUSTER, POOL, 42, Map.of());
        dataset = SealedDataset.seal(CLUSTER, tenant).declare(tenant.account());
    }

    @AfterAll
    static void end() {
        pool.close();
        tenant.close();
        dataset.delete();
        GpuMachine.plug(CLUSTER, GpuMachine.GPUS);
    }

    @Test
    void whatAPodReadsFollowsItsGpus() {
        TestPod plain = tenant.pod(
                        "plain", "while cat /data/two/7 /data/one/* >/dev/null; do sleep 0.2; done; echo broken")
                .withDataset(dataset.reference())
                .create()
                .ready();
        var _ = Await.until(
                "it reads from a disk", Cluster.PATIENCE, () -> !readFrom().isEmpty());
        int from = readFrom().equals("nvme0") ? 0 : 1;
        int to = 1 - from;

        GpuMachine.plug(CLUSTER, List.of(SIDES.get(to)));
        TestPod first = holder(1);

        assertFollows(plain, to);

        // adds a GPU on the other side and removes the first
        GpuMachine.plug(CLUSTER, SIDES);
        TestPod second = holder(2);
        first.delete();

        assertFollows(plain, from);
        assertEquals("", plain.log(), "reads that failed");
        second.delete();
        plain.delete();
    }

    /// Creates a pod that holds a GPU for it.
    private static TestPod holder(int number) {
        return pool.pod("plain-slave-pod-" + number, "sleep 600")
                .withGpus(1)
                .create()
                .ready();
    }

    /// Returns the disk of the replica in use, or "".
    private static String readFrom() {
        return siphon.onNode("siphon", "cache", "list", "--json")
                .output()
                .lines()
                .filter(line -> line.contains(dataset.digest()) && line.contains("\"attached\":\"replica\""))
                .flatMap(line -> Stream.of("nvme0", "nvme1")
                        .filter(disk -> line.contains("\"where\":\"/var/lib/siphon/" + disk + "/")))
                .findFirst()
                .orElse("");
    }

    private static void assertFollows(TestPod pod, int disk) {
        String cache = GpuMachine.cache(disk).toString();
        var _ = Await.until(
                "it reads from nvme" + disk, Cluster.PATIENCE, () -> readFrom().equals("nvme" + disk));
        var _ = pod.told(
                "^DatasetPlaced: dataset [0-9a-f]+ has its replica in " + cache + ", NODE, nearest to its GPUs");
        String topology = siphon.onNode("siphon", "topology", "--pod", tenant.namespace() + "/" + pod.name())
                .output();
        assertTrue(
                Pattern.compile("(?m)^" + cache + " +40 +NODE")
                        .matcher(topology)
                        .find(),
                topology);
    }
}
