package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.gpu.FakeDraDriver;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.LabDaemon;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// GPUs by Dynamic Resource Allocation, which the kubelet does not know yet when a pod's dataset is published. Of
/// two GPUs, one near each disk, one is identified by its UUID and the other by its PCI address, as real drivers
/// do.
@Tag("kubernetes")
@AloneOnCluster
final class DynamicGpusIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final String DRIVER = "gpu.siphon.test";
    private static final String VERSION = "resource.k8s.io/v1";

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    @SuppressWarnings("NullAway.Init")
    private static LabDaemon driver;

    @BeforeAll
    static void start() {
        siphon = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 44);
        dataset = SealedDataset.seal(CLUSTER, tenant).declare(tenant.account());
        driver = LabDaemon.ofClass("fake-dra", FakeDraDriver.class, List.of(DRIVER))
                .start();
        var _ = Await.until(
                "the kubelet knows the driver",
                Cluster.PATIENCE,
                () -> driver.log().contains("registered with the kubelet: true"));
        CLUSTER.apply("", devices());
        CLUSTER.apply(tenant.namespace(), templates());
    }

    private static String devices() {
        return """
            apiVersion: resource.k8s.io/v1
            kind: ResourceSlice
            metadata: {name: %1$s}
            spec:
              driver: %1$s
              nodeName: %2$s
              pool: {name: %2$s, generation: 1, resourceSliceCount: 1}
              devices:
                - {name: gpu-1, attributes: {uuid: {string: GPU-fake-1}}}
                - {name: gpu-5, attributes: {resource.kubernetes.io/pciBusID: {string: '0000:61:00.0'}}}
            ---
            apiVersion: resource.k8s.io/v1
            kind: DeviceClass
            metadata: {name: %1$s}
            spec: {selectors: [{cel: {expression: device.driver == '%1$s'}}]}
            """.formatted(DRIVER, CLUSTER.node());
    }

    private static String templates() {
        return """
            apiVersion: resource.k8s.io/v1
            kind: ResourceClaimTemplate
            metadata: {name: gpu}
            spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: %1$s}}]}}}
            ---
            apiVersion: resource.k8s.io/v1
            kind: ResourceClaimTemplate
            metadata: {name: three}
            spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: %1$s, count: 3}}]}}}
            """.formatted(DRIVER);
    }

    @AfterAll
    static void end() {
        tenant.close();
        dataset.delete();
        var _ = CLUSTER.kubectl("delete", "deviceclass,resourceslice", DRIVER);
        driver.terminate();
    }

    private static PodRequest pod(String name, String template) {
        return tenant.pod(name, "cat /data/two/7; exec sleep 600")
                .withDataset(dataset.reference())
                .with(spec -> spec.addNewResourceClaim()
                        .withName("gpu")
                        .withResourceClaimTemplateName(template)
                        .endResourceClaim()
                        .editFirstContainer()
                        .editOrNewResources()
                        .addNewClaim("gpu", null)
                        .endResources()
                        .endContainer());
    }

    @Test
    void aPodIsShownTheDiskNearestToWhatItWasAllocated() {
        TestPod one = pod("claimed-a", "gpu").create().ready();
        TestPod other = pod("claimed-b", "gpu").create().ready();

        var _ = one.told("^DatasetPlaced: .*replica in ");
        var _ = other.told("^DatasetPlaced: .*replica in ");
        assertEquals(
                Set.of("gpu-1 nvme0", "gpu-5 nvme1"),
                List.of(one, other).stream()
                        .map(pod -> allocated(pod) + " " + shown(pod))
                        .collect(Collectors.toSet()));
        String topology = siphon.onNode("siphon", "topology", "--pod", tenant.namespace() + "/claimed-a")
                .output();
        assertTrue(
                Pattern.compile("(?m)^" + DRIVER + " +(0000:61:00.0|GPU-fake-1)")
                        .matcher(topology)
                        .find(),
                topology);
        one.delete();
        other.delete();
    }

    private static String allocated(TestPod pod) {
        GenericKubernetesResource claim = CLUSTER
                .client()
                .genericKubernetesResources(VERSION, "ResourceClaim")
                .inNamespace(tenant.namespace())
                .list()
                .getItems()
                .stream()
                .filter(each -> pod.name().equals(each.get("status", "reservedFor", 0, "name")))
                .findFirst()
                .orElseThrow();
        return String.valueOf(claim.<String>get("status", "allocation", "devices", "results", 0, "device"));
    }

    private static String shown(TestPod pod) {
        return pod.told("^DatasetPlaced: .*replica in ").replaceAll(".*replica in /var/lib/siphon/(nvme[01])/.*", "$1");
    }

    @Test
    void aGatedPodWaitsUntilItsDatasetIsWhereItsDevicesAre() {
        dataset.evict(siphon);

        TestPod waiting = pod("waiting", "gpu").gated().create();

        var _ = waiting.ready().told("^DatasetWarm: dataset u44.digits is on a disk of ");
        assertEquals(
                List.of(Map.of("node", CLUSTER.node(), "state", "Local")),
                dataset.replicas().stream()
                        .map(each -> Map.of(
                                "node",
                                String.valueOf(each.<String>get("spec", "node")),
                                "state",
                                String.valueOf(each.<String>get("status", "state"))))
                        .toList());
        waiting.delete();
    }

    @Test
    void aGatedPodThatWantsMoreDevicesThanANodeHasIsLeftToTheScheduler() {
        TestPod greedy = pod("greedy", "three").gated().create();

        var _ = greedy.told("^DatasetNotWarm: no node of the cluster suits the pod");
        greedy.delete();
        var _ = Await.until(
                "its claim goes",
                Cluster.PATIENCE,
                () -> CLUSTER
                        .client()
                        .genericKubernetesResources(VERSION, "ResourceClaim")
                        .inNamespace(tenant.namespace())
                        .list()
                        .getItems()
                        .stream()
                        .noneMatch(each -> each.getMetadata().getName().startsWith("greedy-")));
    }
}
