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
import org.junit.jupiter.api.Test;

/// Events as `kubectl describe pod` looks for them: by namespace, name and uid of what they are about.
abstract class PodEventsContract {
    private final String uid = UUID.randomUUID().toString();

    /// How to reach the API under test.
    abstract ApiAccess access();

    /// A namespace that is there.
    abstract String namespace();

    /// The events about `pod`, the first one first.
    abstract List<JsonObject> events(Pod pod);

    private PodEvents api() {
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
    void aNamespaceThatIsGoneTakesNone() {
        Pod pod = new Pod("siphon-gone-" + uid, "train-0", uid);
        DriverException failure = assertThrows(
                DriverException.BackendUnavailable.class,
                () -> api().add(pod, new PodEvents.Event(PodEvents.Type.NORMAL, "Any", "any")));
        assertTrue(failure.getMessage().contains("HTTP 404"), failure::getMessage);
        assertTrue(failure.getMessage().contains("not found"), failure::getMessage);
    }

    private static String text(JsonObject json, String field) {
        return json.get(field).getAsString();
    }
}
