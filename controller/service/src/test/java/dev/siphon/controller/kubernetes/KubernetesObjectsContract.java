package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.explain.ClusterObjects;
import dev.siphon.controller.explain.ClusterObjects.KnownClaim;
import dev.siphon.controller.explain.ClusterObjects.KnownPod;
import dev.siphon.controller.explain.ClusterObjects.KnownVolume;
import dev.siphon.controller.explain.NamespacedName;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// [KubernetesObjects] over an API server.
abstract class KubernetesObjectsContract extends CreatedObjectsContract {
    private ClusterObjects objects() {
        return adapter().objects();
    }

    private String namespace() {
        return cluster().access().namespace();
    }

    private NamespacedName named(String name) {
        return new NamespacedName(namespace(), name + "-" + unique);
    }

    private JsonObject make(String plural, String object) {
        String collection = plural.equals("persistentvolumes")
                ? "/api/v1/" + plural
                : "/api/v1/namespaces/" + namespace() + "/" + plural;
        return create(collection, object);
    }

    private void status(String plural, NamespacedName name, String status) {
        String path = "/api/v1/namespaces/" + name.namespace() + "/" + plural + "/" + name.name();
        JsonObject object = JsonParser.parseString(cluster().admin().raw(path)).getAsJsonObject();
        object.add("status", JsonParser.parseString(status));
        var _ = cluster().admin().raw(path + "/status", "PUT", object.toString());
    }

    private void volume(String name, String driver, VolumeId volume) {
        var _ = make("persistentvolumes", """
                {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "%s-%s"},
                 "spec": {"accessModes": ["ReadWriteMany"], "storageClassName": "none", "capacity": {"storage": "1Gi"},
                          "claimRef": {"namespace": "%s", "name": "data"},
                          "persistentVolumeReclaimPolicy": "Retain",
                          "csi": {"driver": "%s", "volumeHandle": "%s"}}}
                """.formatted(name, unique, namespace(), driver, volume));
    }

    @Test
    void volumesOfThisDriverAreListedWithTheirClaims() {
        VolumeId.Provisioned volume = new VolumeId.Provisioned("lab", "fs", "a1", "v" + unique);
        volume("ours", "cephfs.siphon.dev", volume);
        volume("others", "cephfs.example.org", volume);

        List<KnownVolume> found = objects().volumes().stream()
                .filter(each -> each.volume().equals(volume))
                .toList();

        assertEquals(
                List.of(Optional.of(new NamespacedName(namespace(), "data"))),
                found.stream().map(KnownVolume::claim).toList());
        assertEquals("ours-" + unique, found.getFirst().name());
    }

    @Test
    void aClaimSaysItsPhaseVolumeAndDataset() {
        NamespacedName name = named("data");
        JsonObject there = make("persistentvolumeclaims", """
                {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                 "metadata": {"name": "%s", "annotations": {"siphon.dev/dataset": "u1/digits", "other": "x"}},
                 "spec": {"accessModes": ["ReadWriteMany"], "storageClassName": "none", "volumeName": "none-%s",
                          "resources": {"requests": {"storage": "1Gi"}}}}
                """.formatted(name.name(), unique));
        status("persistentvolumeclaims", name, "{\"phase\": \"Pending\"}");

        assertEquals(
                Optional.of(new KnownClaim(
                        name,
                        JsonParts.text(there, "metadata", "uid").orElseThrow(),
                        "Pending",
                        Optional.of("none-" + unique),
                        Optional.of("u1/digits"))),
                objects().claim(name));
    }

    private void pod(NamespacedName name, String more) {
        var _ = make("pods", """
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s"},
                 "spec": {"serviceAccountName": "siphon-controller", %s
                          "containers": [{"name": "main", "image": "none"}],
                          "volumes": [
                            {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
                            {"name": "digits",
                             "csi": {"driver": "cephfs.siphon.dev", "volumeAttributes": {"dataset": "u1/digits"}}},
                            {"name": "scratch", "emptyDir": {}}]}}
                """.formatted(name.name(), more));
    }

    @Test
    void aPodSaysWhatItMountsAndWhatHoldsIt() {
        NamespacedName name = named("gated");
        pod(name, "\"schedulingGates\": [{\"name\": \"siphon.dev/dataset\"}],");
        status("pods", name, """
                {"phase": "Pending", "conditions": [
                  {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": "blocked by gates"}]}
                """);

        KnownPod found = objects().pod(name).orElseThrow();

        assertEquals(List.of("data"), found.claims());
        assertEquals(List.of("u1/digits"), found.datasets());
        assertEquals(List.of("siphon.dev/dataset"), found.gates());
        assertEquals(Optional.of("blocked by gates"), found.unscheduled());
        assertEquals(Optional.empty(), found.node());
        assertEquals("Pending", found.phase());
    }

    @Test
    void podsAreListedWithTheirNodesAndContainers() {
        NamespacedName name = named("placed");
        pod(name, "\"nodeName\": \"node-a\",");
        status("pods", name, """
                {"phase": "Pending", "containerStatuses": [
                  {"name": "main", "image": "none", "imageID": "", "ready": false, "restartCount": 0,
                   "state": {"waiting": {"reason": "ContainerCreating", "message": "x"}}}]}
                """);

        List<KnownPod> here = new ArrayList<>();
        objects().pods(Optional.of(namespace()), here::add);
        List<KnownPod> all = new ArrayList<>();
        objects().pods(Optional.empty(), all::add);

        KnownPod found =
                here.stream().filter(pod -> pod.name().equals(name)).findFirst().orElseThrow();
        assertEquals(Optional.of("node-a"), found.node());
        assertEquals(List.of("main: ContainerCreating"), found.waiting());
        assertTrue(all.contains(found), all::toString);
    }

    private void event(NamespacedName pod, String uid, String reason, int number) {
        event(pod, uid, reason, number, "m");
    }

    private void event(NamespacedName pod, String uid, String reason, int number, String message) {
        var _ = make("events", """
                {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "%1$s-%2$d", "namespace": "%3$s"},
                 "involvedObject": {
                   "apiVersion": "v1", "kind": "Pod", "namespace": "%3$s", "name": "%1$s", "uid": "%5$s"},
                 "source": {"component": "test"}, "reportingComponent": "test", "reportingInstance": "test",
                 "type": "Warning", "reason": "%4$s", "message": "%7$s", "count": 1,
                 "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:%6$02dZ"}
                """.formatted(pod.name(), number, pod.namespace(), reason, uid, number % 60, message));
    }

    /// Whoever may write Events must not fill the memory of a controller that reads them.
    @Test
    void veryManyEventsAreNotReadToTheEnd() {
        for (int number = 0; number < 520; number++) {
            event(named("loud"), "uid-1", "Loud", number, "x".repeat(3_000));
        }

        List<ClusterObjects.KnownEvent> read = objects().events("Pod", named("loud"), "uid-1");

        assertEquals(500, read.size());
        assertEquals(
                Set.of("x".repeat(2_048)),
                Set.copyOf(read.stream().map(ClusterObjects.KnownEvent::message).toList()));
    }

    @Test
    void eventsOfAnObjectAreInTheOrderOfTheirTimes() {
        event(named("one"), "uid-1", "Later", 9);
        event(named("one"), "uid-1", "Earlier", 3);
        event(named("one"), "uid-0", "OfAnEarlierPod", 4);
        event(named("other"), "uid-1", "Strange", 5);

        assertEquals(
                List.of("Earlier", "Later"),
                objects().events("Pod", named("one"), "uid-1").stream()
                        .map(ClusterObjects.KnownEvent::reason)
                        .toList());
        assertEquals(List.of(), objects().events("PersistentVolumeClaim", named("one"), "uid-1"));
    }

    @Test
    void whatIsNotThereIsEmpty() {
        for (NamespacedName name : List.of(named("missing"), new NamespacedName("..", "../x"))) {
            assertEquals(Optional.empty(), objects().pod(name));
            assertEquals(Optional.empty(), objects().claim(name));
            assertEquals(List.of(), objects().events("Pod", name, "uid-1"));
        }
    }
}
