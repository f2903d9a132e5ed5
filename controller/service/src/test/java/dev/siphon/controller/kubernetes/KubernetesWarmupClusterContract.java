package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.warm.DataReadiness;
import dev.siphon.controller.warm.GatedPod;
import dev.siphon.controller.warm.OrderedReplica;
import dev.siphon.controller.warm.PodConditions;
import dev.siphon.controller.warm.PodPlacement;
import dev.siphon.controller.warm.Warmup;
import dev.siphon.controller.warm.WarmupCluster;
import dev.siphon.controller.warm.WarmupCluster.ClaimContent;
import dev.siphon.controller.warm.WarmupCluster.Notice;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// [KubernetesWarmupCluster] over an API server.
abstract class KubernetesWarmupClusterContract {
    private static final VolumeId.DatasetVolume VOLUME = new VolumeId.DatasetVolume(
            "lab", "cephfs", "0123456789abcdef".repeat(3).substring(0, 40), Optional.empty(), "/datasets/x");
    private static final String OBJECTS = "/" + KubernetesWarmupCluster.REPLICAS;

    private final String unique = UUID.randomUUID().toString();
    private final List<String> made = new ArrayList<>();
    private Optional<KubernetesAdapter> opened = Optional.empty();

    abstract TestCluster cluster();

    @AfterEach
    void removeWhatWasMade() {
        made.reversed().forEach(path -> cluster().admin().raw(path, "DELETE", "{}"));
        made.clear();
        opened.ifPresent(KubernetesAdapter::close);
        opened = Optional.empty();
    }

    private WarmupCluster warming() {
        KubernetesAdapter adapter = opened.orElseGet(cluster()::adapter);
        opened = Optional.of(adapter);
        return adapter.warming();
    }

    private String namespace() {
        return cluster().access().namespace();
    }

    private JsonObject make(String collection, String object) {
        JsonObject there = JsonParser.parseString(cluster().admin().raw(collection, "POST", object))
                .getAsJsonObject();
        made.add(collection + "/" + JsonParts.text(there, "metadata", "name").orElseThrow());
        return there;
    }

    private JsonObject get(String path) {
        return JsonParser.parseString(cluster().admin().raw(path)).getAsJsonObject();
    }

    private String pods() {
        return "/api/v1/namespaces/" + namespace() + "/pods";
    }

    private String pod(String gates, String affinity) {
        String name = "pod-" + UUID.randomUUID();
        var _ = make(pods(), """
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s", "namespace": "%s"},
                 "spec": {"serviceAccountName": "siphon-controller", "schedulingGates": [%s], %s
                          "containers": [{"name": "main", "image": "none",
                            "resources": {"requests": {"cpu": "250m"}}}],
                          "volumes": [{"name": "data",
                            "csi": {"driver": "cephfs.siphon.dev", "volumeAttributes": {"dataset": "u1/x"}}}]}}
                """.formatted(name, namespace(), gates, affinity));
        return name;
    }

    private Optional<GatedPod> gated(WarmupCluster warming, String name) {
        return warming.gated(Instant.now()).stream()
                .filter(pod -> pod.name().equals(name) && pod.namespace().equals(namespace()))
                .findFirst();
    }

    @Test
    void podsAtTheGateAreFound() {
        String waiting = pod("{\"name\": \"siphon.dev/dataset\"}", "");
        String other = pod("{\"name\": \"example.com/other\"}", "");
        String both = pod("{\"name\": \"siphon.dev/dataset\"}, {\"name\": \"example.com/other\"}", "");
        GatedPod found = gated(warming(), waiting).orElseThrow();
        assertEquals(List.of(new GatedPod.DatasetReference.ByName("u1/x")), found.uses());
        assertEquals(
                Optional.of(new BigDecimal("0.250")),
                Optional.ofNullable(found.needs().amounts().get("cpu")).map(cpu -> cpu.setScale(3)));
        assertFalse(gated(warming(), other).isPresent());
        assertFalse(gated(warming(), both).isPresent(), "another gate holds it");
    }

    @Test
    void aPodIsLetGoWithWhatItPrefersAndKeepsWhatItHad() {
        String name = pod("{\"name\": \"siphon.dev/dataset\"}", """
                "schedulerName": "none",
                "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                  {"weight": 7, "preference": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}]}},
                """);
        WarmupCluster warming = warming();
        GatedPod waiting = gated(warming, name).orElseThrow();
        assertTrue(warming.open(waiting, new PodPlacement(List.of("host-1", "host-2"), false)));
        JsonObject now = get(pods() + "/" + name);
        assertEquals(0, JsonParts.each(now, "spec", "schedulingGates").count());
        List<JsonObject> preferred = JsonParts.each(
                        now, "spec", "affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution")
                .toList();
        assertEquals(
                List.of("7", "100"),
                preferred.stream()
                        .flatMap(each -> JsonParts.text(each, "weight").stream())
                        .toList());
        assertTrue(preferred.getLast().toString().contains("[\"host-1\",\"host-2\"]"), preferred::toString);
        assertFalse(warming.open(waiting, PodPlacement.ANYWHERE), "what was seen is not what is there");
        assertFalse(gated(warming, name).isPresent());
    }

    @Test
    void aPodThatRequiresNodesKeepsWhatItRequired() {
        String free = pod("{\"name\": \"siphon.dev/dataset\"}", "\"schedulerName\": \"none\",");
        String bound = pod("{\"name\": \"siphon.dev/dataset\"}", """
                "schedulerName": "none",
                "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                  {"matchExpressions": [{"key": "a", "operator": "Exists"}]}, {},
                  {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}]}}},
                """);
        WarmupCluster warming = warming();
        PodPlacement placement = new PodPlacement(List.of("host-1"), true);
        assertTrue(warming.open(gated(warming, free).orElseThrow(), placement));
        assertTrue(warming.open(gated(warming, bound).orElseThrow(), placement));
        String here = "{\"key\":\"kubernetes.io/hostname\",\"operator\":\"In\",\"values\":[\"host-1\"]}]";
        assertEquals(List.of("[" + here), expressions(free));
        List<String> narrowed = List.of("[{\"key\":\"a\",\"operator\":\"Exists\"}," + here, "null", "[" + here);
        assertEquals(narrowed, expressions(bound));
    }

    private List<String> expressions(String pod) {
        String required = "requiredDuringSchedulingIgnoredDuringExecution";
        JsonObject now = get(pods() + "/" + pod);
        return JsonParts.each(now, "spec", "affinity", "nodeAffinity", required, "nodeSelectorTerms")
                .map(term -> String.valueOf(term.get("matchExpressions")))
                .toList();
    }

    @Test
    void aPodThatIsGoneIsNotLetGo() {
        String name = pod("{\"name\": \"siphon.dev/dataset\"}", "");
        WarmupCluster warming = warming();
        GatedPod waiting = gated(warming, name).orElseThrow();
        cluster().admin().raw(made.removeLast() + "?gracePeriodSeconds=0", "DELETE", "{}");
        assertFalse(warming.open(waiting, new PodPlacement(List.of("host-1"), false)));
    }

    @Test
    void itsPeopleAreTold() {
        String name = pod("{\"name\": \"siphon.dev/dataset\"}", "");
        WarmupCluster warming = warming();
        warming.report(
                gated(warming, name).orElseThrow(), new Notice(true, "DatasetNotWarm", "no reason ".repeat(200)));
        JsonObject event = items("/api/v1/namespaces/" + namespace() + "/events")
                .filter(each -> JsonParts.text(each, "involvedObject", "name").equals(Optional.of(name)))
                .findFirst()
                .orElseThrow();
        assertEquals(Optional.of("DatasetNotWarm"), JsonParts.text(event, "reason"));
        assertEquals(Optional.of("Warning"), JsonParts.text(event, "type"));
    }

    @Test
    void aPodsConditionIsWrittenAndTheOthersStay() {
        String name = pod("{\"name\": \"siphon.dev/dataset\"}", "");
        cluster()
                .admin()
                .pods()
                .inNamespace(namespace())
                .withName(name)
                .subresource("status")
                .patch(
                        PatchContext.of(PatchType.STRATEGIC_MERGE),
                        "{\"status\": {\"conditions\": [{\"type\": \"example.com/Other\", \"status\": \"True\"}]}}");
        WarmupCluster warming = warming();
        PodConditions.PodIdentity pod = new PodConditions.PodIdentity(
                namespace(), name, gated(warming, name).orElseThrow().uid());
        Instant since = Instant.parse("2026-01-01T00:00:00.5Z");

        assertTrue(warming.conditions().write(pod, DataReadiness.closed("first"), Optional.of(since)));
        assertTrue(warming.conditions().write(pod, DataReadiness.closed("later"), Optional.empty()));

        JsonObject now = get(pods() + "/" + name);
        JsonObject condition = condition(now, "siphon.dev/DataReady").orElseThrow();
        assertEquals(Optional.of("False"), JsonParts.text(condition, "status"));
        assertEquals(Optional.of("GateClosed"), JsonParts.text(condition, "reason"));
        assertEquals(
                Optional.of("pod " + namespace() + "/" + name
                        + " waits at the gate, which stays closed until somebody acts: later"),
                JsonParts.text(condition, "message"));
        assertEquals(Optional.of("2026-01-01T00:00:00Z"), JsonParts.text(condition, "lastTransitionTime"));
        assertTrue(condition(now, "example.com/Other").isPresent());
        assertEquals(Optional.of("1"), JsonParts.text(now, "metadata", "generation"), "the wait goes on");
    }

    private static Optional<JsonObject> condition(JsonObject pod, String type) {
        return JsonParts.each(pod, "status", "conditions")
                .filter(each -> JsonParts.text(each, "type").equals(Optional.of(type)))
                .findFirst();
    }

    @Test
    void thePodsOnANodeThatUseADatasetAreFound() {
        String claim = "claim-" + UUID.randomUUID();
        String node = "node-" + UUID.randomUUID();
        var _ = make(
                "/api/v1/persistentvolumes", """
                {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "%s"},
                 "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadOnlyMany"],
                          "claimRef": {"namespace": "%s", "name": "%s"},
                          "csi": {"driver": "cephfs.siphon.dev", "volumeHandle": "%s"}}}
                """.formatted(claim, namespace(), claim, VOLUME.forUse("0123456789av")));
        JsonObject pod = make(pods(), """
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s", "namespace": "%s"},
                 "spec": {"serviceAccountName": "siphon-controller", "nodeName": "%s",
                          "containers": [{"name": "main", "image": "none"}],
                          "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "%s"}}]}}
                """.formatted(claim, namespace(), node, claim));
        PodConditions conditions = warming().conditions();
        PodConditions.PodIdentity identity = new PodConditions.PodIdentity(
                namespace(), claim, JsonParts.text(pod, "metadata", "uid").orElseThrow());

        assertEquals(List.of(), onNode(conditions, node, Set.of()), "it has no condition");
        assertEquals(
                List.of(new PodConditions.PodOnNode(identity, node, Set.of(VOLUME), Optional.empty())),
                onNode(conditions, node, Set.of(node)));
        assertTrue(conditions.write(identity, DataReadiness.closed("x"), Optional.empty()));
        assertEquals(
                List.of(new PodConditions.PodOnNode(identity, node, Set.of(VOLUME), Optional.of(false))),
                onNode(conditions, node, Set.of()));
        cluster().admin().raw(made.removeLast(), "DELETE", """
                {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
                """);
        assertFalse(conditions.write(identity, DataReadiness.closed("x"), Optional.empty()), "it is gone");
    }

    private static List<PodConditions.PodOnNode> onNode(PodConditions conditions, String node, Set<String> nodes) {
        return conditions.onNodes(nodes, Set.of(VOLUME)).stream()
                .filter(pod -> pod.node().equals(node))
                .toList();
    }

    private Stream<JsonObject> items(String collection) {
        return StreamSupport.stream(get(collection).getAsJsonArray("items").spliterator(), false)
                .map(item -> item.getAsJsonObject());
    }

    private Optional<OrderedReplica> replica(String name) {
        return warming().replicas().stream()
                .filter(each -> each.name().equals(name))
                .findFirst();
    }

    private String tell() {
        String name = "u1.x.node-1-" + unique;
        warming().writeOrder(name, new DatasetReplica.Order("u1.x", "node-1", VOLUME, true, Optional.empty()));
        String path = OBJECTS + DatasetReplica.PLURAL + "/" + name;
        if (!made.contains(path)) {
            made.add(path);
        }
        return name;
    }

    @Test
    void aNodeIsToldAndHeardAndAnswered() {
        Instant before = Instant.now().minusSeconds(5);
        String name = tell();
        OrderedReplica told = replica(name).orElseThrow();
        assertEquals(new DatasetReplica.Order("u1.x", "node-1", VOLUME, true, Optional.empty()), told.order());
        assertEquals(Optional.empty(), told.report());
        assertTrue(told.made().isAfter(before));
        tell(); // again, by the next leader
        Report asking = Report.asking(new DatasetReplica.Question("7", "key"), Optional.empty());
        report(name, asking);
        assertEquals(Optional.of(asking), replica(name).orElseThrow().report());
        warming().answer(told, new DatasetAccess.Refused("7", new DriverException.InUse("not now")));
        assertEquals(
                Optional.of("7"), replica(name).orElseThrow().order().access().map(DatasetAccess.Answer::request));
        warming().setWanted(told, false);
        OrderedReplica unwanted = replica(name).orElseThrow();
        assertEquals(new DatasetReplica.Order("u1.x", "node-1", VOLUME, false, Optional.empty()), unwanted.order());
        assertEquals(Optional.of(asking), unwanted.report());
    }

    private void report(String name, Report report) {
        JsonObject change = new JsonObject();
        change.add("status", report.toStatus());
        var _ = cluster()
                .admin()
                .genericKubernetesResources(kind(DatasetReplica.KIND, DatasetReplica.PLURAL))
                .withName(name)
                .subresource("status")
                .patch(PatchContext.of(PatchType.JSON_MERGE), change.toString());
    }

    static ResourceDefinitionContext kind(String kind, String plural) {
        return new ResourceDefinitionContext.Builder()
                .withGroup(DatasetReplica.GROUP)
                .withVersion(DatasetReplica.VERSION)
                .withKind(kind)
                .withPlural(plural)
                .withNamespaced(false)
                .build();
    }

    @Test
    void whatIsForgottenIsGoneAndMayBeForgottenAgain() {
        String name = tell();
        OrderedReplica told = replica(name).orElseThrow();
        warming().forget(told);
        made.removeLast();
        assertEquals(Optional.empty(), replica(name));
        warming().forget(told);
        warming().setWanted(told, true);
        warming().answer(told, new DatasetAccess.Refused("7", new DriverException.InUse("not now")));
        assertEquals(Optional.empty(), replica(name));
    }

    @Test
    void whatIsWantedAheadIsFoundAndReportedOn() {
        String name = "warm-" + unique;
        var _ = make(OBJECTS + KubernetesWarmupCluster.WARMUPS, """
                {"apiVersion": "siphon.dev/v1alpha1", "kind": "DatasetWarmup", "metadata": {"name": "%s"},
                 "spec": {"dataset": "u1/x", "nodeSelector": {"gpu": "a100"}, "until": "2026-01-02T08:00:00+01:00"}}
                """.formatted(name));
        Warmup found = warmup(name);
        assertEquals(
                new Warmup(
                        name,
                        "u1/x",
                        Map.of("gpu", "a100"),
                        Optional.of(Instant.parse("2026-01-02T07:00:00Z")),
                        Optional.empty()),
                found);
        Warmup.Status status = new Warmup.Status(4, 3, "node-4: disk full");
        warming().report(found, status);
        assertEquals(Optional.of(status), warmup(name).said());
    }

    private Warmup warmup(String name) {
        return warming().warmups().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aClaimSaysWhichDatasetItShows() {
        String claims = "/api/v1/namespaces/" + namespace() + "/persistentvolumeclaims";
        String claim = """
                {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "%s" %s},
                 "spec": {"accessModes": ["ReadOnlyMany"], "storageClassName": "none", %s
                          "resources": {"requests": {"storage": "1Gi"}}}}
                """;
        var _ = make(claims, claim.formatted("named", ", \"annotations\": {\"siphon.dev/dataset\": \"u1/x\"}", ""));
        var _ = make(claims, claim.formatted("bound", "", "\"volumeName\": \"pv-" + unique + "\","));
        var _ = make(claims, claim.formatted("unbound", "", ""));
        var _ = make("/api/v1/persistentvolumes", """
                {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv-%s"},
                 "spec": {"accessModes": ["ReadOnlyMany"], "storageClassName": "none", "capacity": {"storage": "1Gi"},
                          "claimRef": {"namespace": "%s", "name": "bound"}, "persistentVolumeReclaimPolicy": "Retain",
                          "csi": {"driver": "cephfs.siphon.dev", "volumeHandle": "%s"}}}
                """.formatted(unique, namespace(), VOLUME));
        assertEquals(Optional.of(new ClaimContent.Named("u1/x")), warming().claimed(namespace(), "named"));
        assertEquals(
                Optional.of(new ClaimContent.DatasetClaim(VOLUME)), warming().claimed(namespace(), "bound"));
        assertEquals(Optional.empty(), warming().claimed(namespace(), "unbound"));
        assertEquals(Optional.empty(), warming().claimed(namespace(), "gone"));
        assertEquals(Optional.empty(), warming().claimed(namespace(), "../../nodes"));
    }
}
