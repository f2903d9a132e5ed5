package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.CephTree;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// An example in which two ranks learn MNIST.
///
/// @param name of the example, and of the claim that has its checkpoint
/// @param kind of the object that starts the ranks
/// @param labels of the ranks' pods
record RankedTraining(Tenant tenant, SealedDataset dataset, String name, String kind, Map<String, String> labels) {
    /// Ranks share two processors with all of Ceph and Kubernetes.
    private static final Duration LIMIT = Duration.ofMinutes(6);

    private static final int LEAST = 9_700;
    private static final Pattern RECOGNISED = Pattern.compile("(?m)^([0-9]+) of 10000 recognised$");
    private static final Pattern ON_DISK = Pattern.compile(".* from a disk of node (\\S+)");

    /// Applies the example as it stands and waits until each rank runs on one of these nodes and reads the dataset
    /// from a disk there.
    RankedTraining start(Set<String> nodes) {
        return start(example(), nodes);
    }

    /// Does the same in a queue of Kueue.
    RankedTraining startIn(String queue, Set<String> nodes) {
        String object = "Job\nmetadata: {name: " + name;
        return start(example().replace(object, object + ", labels: {kueue.x-k8s.io/queue-name: " + queue + "}"), nodes);
    }

    private String example() {
        return new Examples(tenant).text(name + ".yaml").replace("u1/mnist-v1", dataset.reference());
    }

    private RankedTraining start(String manifest, Set<String> nodes) {
        tenant.cluster().apply(tenant.namespace(), manifest);
        List<Pod> ranks = tenant.cluster()
                .awaitAll(
                        "two ranks of " + name + " read from disks",
                        LIMIT,
                        tenant.cluster()
                                .client()
                                .pods()
                                .inNamespace(tenant.namespace())
                                .withLabels(labels),
                        pods -> pods.stream()
                                        .filter(each -> !diskOf(each).isEmpty())
                                        .count()
                                == 2);
        assertEquals(
                nodes, ranks.stream().map(each -> each.getSpec().getNodeName()).collect(Collectors.toSet()));
        for (Pod rank : ranks) {
            assertEquals(rank.getSpec().getNodeName(), diskOf(rank));
        }
        return this;
    }

    /// Returns the node from whose disk a pod reads its dataset; empty while it does not.
    private static String diskOf(Pod pod) {
        return pod.getStatus().getConditions().stream()
                .filter(each -> "siphon.dev/DataReady".equals(each.getType()) && "OnDisk".equals(each.getReason()))
                .map(each -> ON_DISK.matcher(each.getMessage()))
                .filter(Matcher::matches)
                .map(said -> said.group(1))
                .findFirst()
                .orElse("");
    }

    /// Waits until these pods have succeeded, and checks that both ranks have learnt together.
    RankedTraining learnt(Stream<String> pods) {
        String log = pods.map(tenant::podCalled)
                .map(pod -> pod.succeeded(LIMIT).log())
                .collect(Collectors.joining("\n"));
        Set<Integer> recognised = RECOGNISED
                .matcher(log)
                .results()
                .map(said -> Integer.parseInt(said.group(1)))
                .collect(Collectors.toSet());
        assertTrue(log.contains("rank 0 of 2") && log.contains("rank 1 of 2"), log);
        assertTrue(log.contains("saved after 60000 pictures"), log);
        assertEquals(1, recognised.size(), log);
        assertTrue(recognised.iterator().next() >= LEAST, log);
        return this;
    }

    /// Returns the names of the ranks' pods.
    Stream<String> ranks() {
        return tenant
                .cluster()
                .client()
                .pods()
                .inNamespace(tenant.namespace())
                .withLabels(labels)
                .list()
                .getItems()
                .stream()
                .map(pod -> pod.getMetadata().getName());
    }

    /// Checks that the volume has the checkpoint, as a file of the account.
    RankedTraining kept() {
        try (CephTree tree = CephTree.mount(tenant.cluster().lab())) {
            Path volume = tree.at("/volumes/" + tenant.claimCalled(name).subvolume());
            try (Stream<Path> files = Files.walk(volume)) {
                Path checkpoint = files.filter(each -> each.endsWith("checkpoint.pt"))
                        .findFirst()
                        .orElseThrow();
                assertEquals(tenant.uid(), Files.getAttribute(checkpoint, "unix:uid"));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    /// Deletes what started the ranks, and waits until their pods are gone.
    void delete() {
        var _ = tenant.cluster().kubectl("-n", tenant.namespace(), "delete", kind, name);
        var _ = tenant.cluster()
                .awaitAll(
                        "the end of the ranks of " + name,
                        tenant.cluster()
                                .client()
                                .pods()
                                .inNamespace(tenant.namespace())
                                .withLabels(labels),
                        List::isEmpty);
    }
}
