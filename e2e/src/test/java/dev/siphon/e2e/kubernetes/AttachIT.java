package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import java.nio.file.Files;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Replaces the chart by one with attach and a pool of nodes. Runs when no pod has a volume: a CSIDriver's
/// `attachRequired` cannot change.
@Tag("kubernetes")
@AloneOnCluster
@Order(2)
final class AttachIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final String VERSION = "storage.k8s.io/v1";

    /// A disk that does not exist.
    private static final int MISSING = 9;

    private static final String POOLS = """
            [{"name": "disks", "nodeSelector": {"siphon.test/disks": "some"},
              "cacheDirectories": [{"path": "%s", "size": "1Gi"}, {"path": "%s", "size": "1Gi"}]}]""".formatted(GpuMachine.cache(0), GpuMachine.cache(MISSING));

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @BeforeAll
    static void install() throws Exception {
        Installation siphon = Installation.in(CLUSTER);
        SnapshotController.addTo(siphon, CLUSTER);
        siphon.folder().cephCaps("--attach", "--change");
        siphon.folder()
                .useChart("--set", "snapshots=true", "--set", "attach=true", "--set-json", "node.pools=" + POOLS);
        var _ = CLUSTER.client()
                .genericKubernetesResources(VERSION, "CSIDriver")
                .withName(Installation.DRIVER)
                .delete();
        var _ = Files.createDirectories(GpuMachine.cache(0));
        var _ = Files.createDirectories(GpuMachine.cache(MISSING).getParent());
        var _ = CLUSTER.kubectl("label", "nodes", "--all", "--overwrite", "siphon.test/disks=some");
        siphon.apply();
        var _ = CLUSTER.kubectl("-n", "siphon", "rollout", "status", "--timeout=120s", "daemonset/siphon-node-disks");
        tenant = Tenant.ofAccount(CLUSTER, 64);
        var _ = tenant.claim("training", "1Gi");
    }

    @AfterAll
    static void end() {
        tenant.deleteSnapshots();
        tenant.close();
    }

    @Test
    void aPoolsNodesArePodsOfItsOwn() {
        assertEquals(
                List.of("siphon-fuse 1 of 1", "siphon-node 0 of 0", "siphon-node-disks 1 of 1"),
                CLUSTER.client().apps().daemonSets().inNamespace(Installation.NAMESPACE).list().getItems().stream()
                        .map(AttachIT::ready)
                        .sorted()
                        .toList());
    }

    private static String ready(DaemonSet set) {
        return set.getMetadata().getName() + " " + set.getStatus().getNumberReady() + " of "
                + set.getStatus().getDesiredNumberScheduled();
    }

    @Test
    void aPoolHasItsCacheDirectories() {
        String topology = Installation.in(CLUSTER).onNode("siphon", "topology").output();

        assertTrue(
                Pattern.compile("c0 +" + GpuMachine.cache(0)).matcher(topology).find(), topology);
    }

    @Test
    void aCacheDirectoryThatIsMissingIsToldOf() {
        String list = Installation.in(CLUSTER).onNode("siphon", "cache", "list").output();

        assertTrue(list.contains("nvme9/cache is missing: mount its disk"), list);
        var _ = CLUSTER.awaitEvent("default", CLUSTER.node(), "^CacheDirectoryUnusable");
    }

    @Test
    void aPodsVolumeIsAttachedAndDetached() {
        TestPod pod = tenant.pod("ticker", "echo tick >/data/tick && cat /data/tick && exec sleep 600")
                .withClaim("training")
                .create();
        var _ = pod.says("^tick");
        String volume = tenant.claimCalled("training").volume().getMetadata().getName();

        assertEquals(
                List.of(volume + " to " + CLUSTER.node() + ", true"),
                attachments().stream().map(AttachIT::attached).toList());

        pod.delete();

        var _ = CLUSTER.awaitAll(
                "it is detached",
                CLUSTER.client().genericKubernetesResources(VERSION, "VolumeAttachment"),
                List::isEmpty);
    }

    private static List<GenericKubernetesResource> attachments() {
        return CLUSTER.client()
                .genericKubernetesResources(VERSION, "VolumeAttachment")
                .list()
                .getItems();
    }

    private static String attached(GenericKubernetesResource attachment) {
        return attachment.<String>get("spec", "source", "persistentVolumeName") + " to "
                + attachment.<String>get("spec", "nodeName") + ", " + attachment.<Boolean>get("status", "attached");
    }

    @Test
    void aSnapshotIsSealed() {
        var _ = tenant.pod("writer", "mkdir -p /data/only && echo one >/data/only/file")
                .withClaim("training")
                .create()
                .succeeded();

        new Examples(tenant).apply("dataset-snapshot.yaml");

        String log = tenant.podCalled("training-v1").succeeded().log();
        // a container's stdout and stderr interleave in any order
        assertTrue(log.lines().anyMatch(line -> line.strip().matches("[12]")), log);
        assertEquals(List.of(), PackersLeft.packers(CLUSTER));
        tenant.podCalled("training-v1").delete();
        tenant.claimCalled("training-v1").delete();
    }
}
