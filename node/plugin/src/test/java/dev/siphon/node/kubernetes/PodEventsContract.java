package dev.siphon.node.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.NodeId;
import dev.siphon.node.pod.Pod;
import dev.siphon.node.pod.PodEvents;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/// The contract of events as `kubectl describe pod` finds them: by namespace, name and uid of their object.
abstract class PodEventsContract {
    private final String uid = UUID.randomUUID().toString();

    /// Returns the access to the API under test.
    abstract ApiAccess access();

    /// Returns an existing namespace.
    abstract String namespace();

    /// Returns the events about `pod`, oldest first.
    abstract List<JsonObject> events(Pod pod);

    /// Returns the events about the node, oldest first.
    abstract List<JsonObject> nodeEvents(String node);

    private EventsApi api() {
        return new EventsApi(access(), "cephfs.siphon.dev", new NodeId("node-1", Optional.empty()));
    }

    @Test
    void anEventIsFoundByItsPod() {
        Pod pod = new Pod(namespace(), "train-0", uid);
        api().add(pod, new PodEvents.Event(PodEvents.Type.WARNING, "VolumeConditionAbnormal", "it is \"dead\""));
        api().add(pod, new PodEvents.Event(PodEvents.Type.NORMAL, "VolumeConditionNormal", "it answers"));
        List<String> seen = events(pod).stream()
                .map(event -> text(event, "type") + " " + text(event, "reason") + " " + text(event, "message"))
                .sorted()
                .toList();
        assertEquals(
                List.of("Normal VolumeConditionNormal it answers", "Warning VolumeConditionAbnormal it is \"dead\""),
                seen);
        JsonObject involved = events(pod).getFirst().getAsJsonObject("involvedObject");
        assertEquals(
                "Pod train-0 " + uid,
                text(involved, "kind") + " " + text(involved, "name") + " " + text(involved, "uid"));
    }

    @Test
    void aCacheDirectoryThatIsNotReadIsToldAtItsNode() {
        String node = "node-" + uid;
        new CacheEvents(new EventsApi(access(), "cephfs.siphon.dev", new NodeId(node, Optional.empty())))
                .accept("the cache directory /mnt/nvme0/siphon is missing");
        await(() -> !nodeEvents(node).isEmpty());
        JsonObject event = nodeEvents(node).getFirst();
        assertEquals(
                "Warning CacheDirectoryUnusable the cache directory /mnt/nvme0/siphon is missing; datasets are read"
                        + " from elsewhere until the next try",
                text(event, "type") + " " + text(event, "reason") + " " + text(event, "message"));
    }

    @Test
    void aNamespaceThatIsGoneTakesNone() {
        Pod pod = new Pod("siphon-gone-" + uid, "train-0", uid);
        DriverException failure = assertThrows(
                DriverException.BackendUnavailable.class,
                () -> api().add(pod, new PodEvents.Event(PodEvents.Type.NORMAL, "Any", "any")));
        assertTrue(failure.getMessage().contains("HTTP 404"), failure::getMessage);
        assertTrue(failure.getMessage().contains("not found"), failure::getMessage);
    }

    private static void await(BooleanSupplier told) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!told.getAsBoolean()) {
            assertTrue(System.nanoTime() < end, "not told");
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    private static String text(JsonObject json, String field) {
        return json.get(field).getAsString();
    }
}
