package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.warm.ClusterNode;
import dev.siphon.controller.warm.PodPlacement;
import dev.siphon.controller.warm.ResourceAmounts;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica;
import dev.siphon.csi.fuzz.ParserFuzz;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Fuzzes Kubernetes objects of tenants and nodes, from the bytes that an API server passes on. A reader may reject
/// invalid JSON with an IOException or IllegalStateException, which [KubernetesApi] converts to a BackendFault
/// (INTERNAL).
final class ObjectsParsingFuzzTest {
    private static final String POD = """
            {"metadata":{"name":"p","namespace":"a","uid":"u","generation":1,"creationTimestamp":"2026-01-01T00:00:00Z",
              "labels":{"jobset.sigs.k8s.io/jobset-name":"j"},"annotations":{"siphon.dev/max-wait":"10m","x":"y"},
              "ownerReferences":[{"controller":true,"uid":"o"}]},
             "spec":{"schedulingGates":[{"name":"siphon.dev/dataset"}],"nodeSelector":{"a":"b"},
              "overhead":{"cpu":"250m"},"resources":{"requests":{"memory":"1Gi"}},
              "containers":[{"name":"c","resources":{"requests":{"cpu":"1500m","memory":"2.5Gi","nvidia.com/gpu":"8"}}}],
              "initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":2,"memory":"1e3"}}},
                {"resources":{"requests":{"cpu":"1E"}}}],
              "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
                {"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}],
                 "matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]}}},
              "tolerations":[{"key":"k","operator":"Exists","effect":"NoSchedule"}],
              "resourceClaims":[{"name":"g","resourceClaimName":"c"}],
              "volumes":[{"name":"v","csi":{"driver":"siphon.dev","volumeAttributes":{"dataset":"u1/x"}}},
                {"name":"w","persistentVolumeClaim":{"claimName":"c"}},
                {"name":"e","ephemeral":{"volumeClaimTemplate":{"metadata":{"name":"t"}}}}]}}""";

    private static final String NODE = """
            {"metadata":{"name":"n","labels":{"a":"2","kubernetes.io/hostname":"h"}},"spec":{"unschedulable":false,
              "taints":[{"key":"k","value":"v","effect":"NoSchedule"}]},"status":{"allocatable":{"cpu":"64",
              "memory":"1031Gi","nvidia.com/gpu":"8"},"conditions":[{"type":"Ready","status":"True"}]}}""";

    private static final String CLAIM = """
            {"metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu",
              "count":8,"allocationMode":"ExactCount"}}]}},"status":{"allocation":{"devices":{"results":
              [{"driver":"gpu.nvidia.com","pool":"n","device":"gpu-0"}]}}}}""";

    private static final String SLICE = """
            {"spec":{"driver":"gpu.nvidia.com","nodeName":"n","pool":{"name":"n","generation":3},
             "devices":[{"name":"gpu-0"},{"name":"gpu-1","allowMultipleAllocations":false}],
             "selectors":[{"cel":{"expression":"device.driver == 'gpu.nvidia.com' && x"}}]}}""";

    private static final String NAMESPACE = """
            {"metadata":{"name":"a","uid":"u","annotations":{"siphon.dev/owners":"u1,u2","x":"y"}}}""";

    private static ObjectParts parts(byte[] bytes, Keep keep) throws IOException {
        return ObjectParts.of(new ByteArrayInputStream(bytes), keep);
    }

    @Test
    void gatedPods() throws IOException {
        ClusterNode node =
                NodeParser.node(parts(NODE.getBytes(java.nio.charset.StandardCharsets.UTF_8), NodeParser.PARTS));
        PodParser reading = new PodParser("siphon.dev");
        ParserFuzz.of(
                        "gated pods",
                        ParserFuzz.texts(POD),
                        bytes -> {
                            JsonObject pod = parts(bytes, PodParser.OF_GATED).kept();
                            var _ = reading.gated(pod);
                            NodeAffinity affinity = NodeAffinity.of(pod);
                            var _ = affinity.with(new PodPlacement(List.of("h"), false));
                            var _ = affinity.with(new PodPlacement(List.of("h"), true));
                            var _ = PodResourceClaim.of(pod);
                            ResourceAmounts needs = PodParser.needs(pod, _ -> true);
                            var _ = node.with(needs, needs.plus(needs).max(node.room()));
                        },
                        IOException.class,
                        IllegalStateException.class)
                .run();
    }

    @Test
    void usingPods() {
        PodParser reading = new PodParser("siphon.dev");
        ParserFuzz.of(
                        "using pods",
                        ParserFuzz.texts(POD),
                        bytes -> {
                            JsonObject pod = parts(bytes, PodParser.OF_RUNNING).kept();
                            var _ = reading.uses(pod);
                        },
                        IOException.class,
                        IllegalStateException.class)
                .run();
    }

    @Test
    void nodes() {
        ParserFuzz.of(
                        "nodes",
                        ParserFuzz.texts(NODE),
                        bytes -> {
                            ClusterNode node = NodeParser.node(parts(bytes, NodeParser.PARTS));
                            var _ = node.with(node.room(), node.room());
                        },
                        IOException.class,
                        IllegalStateException.class)
                .run();
    }

    @Test
    void claimsOfDevices() {
        Keep keep = new Keep(Set.of("spec", "status"), Keep.USUAL);
        ParserFuzz.of(
                        "claims of devices",
                        ParserFuzz.texts(CLAIM, SLICE),
                        bytes -> {
                            JsonObject object = parts(bytes, keep).kept();
                            JsonObject spec = JsonParts.object(object, "spec").orElseGet(JsonObject::new);
                            var _ = DeviceAsk.of(spec);
                            var _ = DeviceAsk.driver(spec);
                            DeviceCount count = new DeviceCount(Set.of("gpu.nvidia.com"));
                            count.add(DeviceSlice.of(object));
                            count.add(DeviceSlice.of(object));
                            DeviceAllocation.of(object, pool -> pool).ifPresent(count::subtract);
                            var _ = count.room();
                            var _ = count.taken();
                        },
                        IOException.class,
                        IllegalStateException.class)
                .run();
    }

    @Test
    void namespaces() {
        ParserFuzz.of(
                        "namespaces",
                        ParserFuzz.texts(NAMESPACE),
                        bytes -> {
                            var _ = ObjectMetadata.readUid(new ByteArrayInputStream(bytes));
                            var _ = ObjectMetadata.readPart(
                                    new ByteArrayInputStream(bytes), Set.of("siphon.dev/owners"));
                            var _ = ObjectMetadata.read("Namespace a", new ByteArrayInputStream(bytes));
                        },
                        IOException.class,
                        IllegalStateException.class,
                        DriverException.InUse.class)
                .run();
    }

    @Test
    void pagesOfNamespaces() {
        ParserFuzz.of(
                        "pages of namespaces",
                        ParserFuzz.texts(
                                "{\"metadata\":{\"continue\":\"c\"},\"items\":[" + NAMESPACE + "," + NAMESPACE + "]}"),
                        bytes -> ObjectMetadata.readPage(
                                new ByteArrayInputStream(bytes), Set.of("siphon.dev/owners"), _ -> {}),
                        IOException.class,
                        IllegalStateException.class)
                .run();
    }

    /// Parses them like [KubernetesWarmupCluster] and [DatasetRequests].
    @Test
    void objectsOfNodes() {
        String replica = """
                {"metadata":{"name":"r","creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"dataset":"u1.x",
                 "node":"n","volume":"dataset:lab:cephfs:0123456789012345678901234567890123456789:/x","wanted":true,
                 "pod":"p","podUID":"u","publicKey":"k","request":"r"},"status":{"state":"Filling","percent":7,
                 "bytes":1099511627776,"cacheDirectory":"/c"}}""";
        ParserFuzz.of(
                        "objects of nodes",
                        ParserFuzz.texts(replica),
                        bytes -> {
                            JsonObject object = parts(bytes, Keep.of("metadata.name", "spec", "status"))
                                    .kept();
                            var _ = JsonParts.object(object, "status").flatMap(DatasetReplica.Report::ofStatus);
                            JsonObject spec = JsonParts.object(object, "spec").orElseGet(JsonObject::new);
                            var _ = DatasetReplica.Order.ofSpec(spec);
                            var _ = DatasetAccess.Asked.ofSpec(spec);
                        },
                        IOException.class,
                        IllegalStateException.class,
                        DriverException.InvalidRequest.class)
                .run();
    }

    @Test
    void volumes() {
        String volume = """
                {"metadata":{"name":"v"},"spec":{"claimRef":{"namespace":"a","name":"c"},"csi":{"driver":"siphon.dev",
                 "volumeHandle":"dataset:lab:cephfs:0123456789012345678901234567890123456789:/x"}},
                 "status":{"phase":"Bound"}}""";
        ParserFuzz.of(
                        "volumes",
                        ParserFuzz.texts(volume),
                        bytes -> PersistentVolumes.dataset(
                                parts(bytes, PersistentVolumes.PARTS).kept(), "siphon.dev"),
                        IOException.class,
                        IllegalStateException.class)
                .run();
    }

    @Test
    void pagesOfPods() {
        ParserFuzz.of(
                        "pages of pods",
                        ParserFuzz.texts("{\"kind\":\"PodList\",\"metadata\":{\"continue\":\"c\"},\"items\":[" + POD
                                + "," + POD + "]}"),
                        bytes -> ObjectParts.page(new ByteArrayInputStream(bytes), PodParser.OF_RUNNING, _ -> {}),
                        IOException.class,
                        IllegalStateException.class)
                .run();
    }

    @Test
    void events() {
        ParserFuzz.of(
                        "events of a watch",
                        ParserFuzz.texts("{\"type\":\"ADDED\",\"object\":" + NODE
                                + "}\n{\"type\":\"DELETED\",\"object\":" + NODE + "}\n"),
                        bytes -> ObjectParts.events(new ByteArrayInputStream(bytes), NodeParser.PARTS, _ -> {}),
                        IOException.class,
                        IllegalStateException.class)
                .run();
    }
}
