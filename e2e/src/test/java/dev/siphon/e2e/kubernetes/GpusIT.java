package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.LabDaemon;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Many pods with one, two and four GPUs, while the kubelet is killed: each reads its dataset from the disk of the
/// NUMA node that has most of its GPUs.
@Tag("kubernetes")
@AloneOnCluster
final class GpusIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final int BEFORE_THE_KILL = 3;
    private static final int AT_ONCE = 8;

    private static final Pattern HOLDS = Pattern.compile("(?m)^holds (.+)$");
    private static final Pattern GPU = Pattern.compile("GPU-fake-([0-9])");
    private static final Pattern PLACED = Pattern.compile("^(\\S+): .*replica in /var/lib/siphon/(nvme[01])/");

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    @SuppressWarnings("NullAway.Init")
    private static List<TestJob> jobs;

    @BeforeAll
    static void run() {
        siphon = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 41);
        dataset = SealedDataset.seal(CLUSTER, tenant).declare(tenant.account());
        var _ = tenant.datasetClaim("digits", dataset.reference());
        jobs = List.of(
                request("one", 1).withDataset(dataset.reference()).createJob(20, AT_ONCE),
                request("two", 2).withDataset(dataset.reference()).createJob(12, AT_ONCE),
                request("four", 4).withClaim("digits").createJob(8, AT_ONCE));
        jobs.getFirst().awaitSucceeded(BEFORE_THE_KILL);
        LabDaemon kubelet = new LabDaemon("kubelet");
        kubelet.kill();
        var _ = kubelet.start();
        jobs.forEach(TestJob::complete);
    }

    @AfterAll
    static void end() {
        tenant.close();
        dataset.delete();
    }

    private static PodRequest request(String name, int gpus) {
        return tenant.pod(name, "echo holds $NVIDIA_VISIBLE_DEVICES; cat /data/two/7")
                .withGpus(gpus);
    }

    /// With equally many GPUs on both sides either disk serves, and there is no event. Events arrive
    /// asynchronously.
    @Test
    void eachPodIsShownTheNearestDisk() {
        Map<String, Optional<String>> nearest =
                succeeded().collect(Collectors.toMap(GpusIT::name, pod -> nearest(held(pod))));

        var _ = Await.until(
                "each pod is shown the nearest disk", Cluster.PATIENCE, () -> shown().equals(present(nearest)));
    }

    private static Map<String, String> present(Map<String, Optional<String>> nearest) {
        return nearest.entrySet().stream()
                .filter(each -> each.getValue().isPresent())
                .collect(Collectors.toMap(
                        Map.Entry::getKey, each -> each.getValue().orElseThrow()));
    }

    /// Returns the disks that events name, by pod, for the pods that succeeded.
    private static Map<String, String> shown() {
        Set<String> pods = succeeded().map(GpusIT::name).collect(Collectors.toSet());
        return jobs.stream()
                .flatMap(job -> job.events("DatasetPlaced").stream())
                .map(PLACED::matcher)
                .filter(Matcher::find)
                .filter(placed -> pods.contains(placed.group(1)))
                .collect(Collectors.toMap(placed -> placed.group(1), placed -> placed.group(2), (one, _) -> one));
    }

    private static Stream<Pod> succeeded() {
        return jobs.stream()
                .flatMap(job -> job.pods().stream())
                .filter(pod -> "Succeeded".equals(pod.getStatus().getPhase()));
    }

    private static String name(Pod pod) {
        return pod.getMetadata().getName();
    }

    /// Returns the numbers of the GPUs that a pod logged.
    private static List<Integer> held(Pod pod) {
        String log = tenant.podCalled(name(pod)).log();
        Matcher holds = HOLDS.matcher(log);
        assertTrue(holds.find(), () -> name(pod) + " said: " + log);
        return GPU.matcher(holds.group(1))
                .results()
                .map(each -> Integer.parseInt(each.group(1)))
                .toList();
    }

    private static Optional<String> nearest(List<Integer> gpus) {
        int left = (int) gpus.stream()
                .filter(number -> GpuMachine.GPUS.get(number).numaNode() == 0)
                .count();
        int right = gpus.size() - left;
        return left == right ? Optional.empty() : Optional.of(left > right ? "nvme0" : "nvme1");
    }

    @Test
    void eachPodSaysWhichGpusItHolds() {
        assertEquals(40, succeeded().filter(pod -> !held(pod).isEmpty()).count());
    }

    @Test
    void bothDisksAreUsed() {
        assertEquals(Set.of("nvme0", "nvme1"), Set.copyOf(shown().values()));
    }

    @Test
    void theNodeKnowsHowFarItsGpusAreFromItsDisks() {
        String topology = siphon.onNode("siphon", "topology").output();

        assertTrue(Pattern.compile("(?m)^0 .*NODE +SYS$").matcher(topology).find(), topology);
    }

    @Test
    void theNodeHasReplicas() {
        String list = siphon.onNode("siphon", "cache", "list").output();

        assertTrue(list.contains("local"), list);
    }
}
