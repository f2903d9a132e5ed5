package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.warm.GatedPod.DatasetReference;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// What is kept of pods that wait at the gate. Tenants write them, up to 1.5 MB each.
final class WaitingPodsTest {
    private final WaitingPods pods = new WaitingPods(new PodParser("cephfs.siphon.dev"));

    private Optional<WaitingPods.Waiting> add(String name, String metadata, String spec) throws IOException {
        return add("u1", name, metadata, spec);
    }

    private Optional<WaitingPods.Waiting> add(String namespace, String name, String metadata, String spec)
            throws IOException {
        String json = """
                {"metadata": {"namespace": "%4$s", "name": "%1$s", "uid": "uid-%1$s", "resourceVersion": "7" %2$s},
                 "spec": {"schedulingGates": [{"name": "siphon.dev/dataset"}] %3$s,
                          "volumes": [{"name": "data", "csi": {"driver": "cephfs.siphon.dev",
                                                               "volumeAttributes": {"dataset": "u1/x"}}}]}}
                """.formatted(name, metadata, spec, namespace);
        return pods.of(
                ObjectParts.of(
                        new ByteArrayInputStream(json.getBytes(StandardCharsets.UTF_8)), WaitingPods.SOURCE.keep()),
                Optional.empty());
    }

    private static String list(String name, int count, String element) {
        return ", \"" + name + "\": [" + String.join(",", Collections.nCopies(count, element)) + "]";
    }

    private static DatasetReference use(WaitingPods.Waiting waiting) {
        return waiting.pod().uses().getFirst();
    }

    /// Each keeps 1.4 MB of owners' uids busy, which are parts of its metadata.
    @Test
    void theMetadataOfAPodIsCountedToo() throws IOException {
        String owners = list("ownerReferences", 140, "{\"uid\": \"" + "x".repeat(10_000) + "\"}");
        for (int index = 0; index < 105; index++) {
            WaitingPods.Waiting waiting = add("large-" + index, owners, "").orElseThrow();
            assertEquals(new DatasetReference.Unread(WaitingPods.LARGE), use(waiting));
            assertEquals("uid-large-" + index, waiting.pod().group(), "its owner is not kept");
            assertEquals("7", waiting.pod().version(), "its gate can be opened");
        }
        assertTrue(pods.bytes() < 105 * 4_000, pods.bytes() + " bytes");
    }

    @Test
    void allPodsTogetherAreBounded() throws IOException {
        String tolerations = list("tolerations", 40, "{\"key\": \"a\", \"operator\": \"Exists\"}");
        List<WaitingPods.Waiting> kept = new ArrayList<>();
        boolean isLeftOut = false;
        for (int index = 0; !isLeftOut; index++) {
            Optional<WaitingPods.Waiting> waiting = add("pod-" + index, "", tolerations);
            waiting.ifPresent(kept::add);
            isLeftOut = waiting.isEmpty();
        }
        assertTrue(pods.bytes() <= WaitingPods.MOST, pods.bytes() + " bytes");
        assertEquals(new DatasetReference.ByName("u1/x"), use(kept.getFirst()));
        assertEquals(new DatasetReference.Unread(WaitingPods.MANY), use(kept.getLast()));
        assertFalse(pods.isToBeListed(), "there is no room");
        kept.subList(0, kept.size() / 2).forEach(pods::gone);
        assertTrue(pods.isToBeListed());
        assertFalse(pods.isToBeListed(), "once");
    }

    @Test
    void ofANamespaceWithManyPodsOthersAreKeptWhole() throws IOException {
        String tolerations = list("tolerations", 40, "{\"key\": \"a\", \"operator\": \"Exists\"}");
        DatasetReference last;
        int index = 0;
        do {
            last = use(add("crowded", "pod-" + index++, "", tolerations).orElseThrow());
        } while (last.equals(new DatasetReference.ByName("u1/x")));
        assertEquals(new DatasetReference.Unread(WaitingPods.MANY), last);
        assertTrue(pods.bytes() <= WaitingPods.TOO_MUCH / 2 + WaitingPods.USUAL, pods.bytes() + " bytes");
        assertEquals(
                new DatasetReference.ByName("u1/x"),
                use(add("other", "pod", "", tolerations).orElseThrow()));
    }

    @Test
    void wherePodsTakeMuchOnlyThoseOfUsualSizeAreKeptWhole() throws IOException {
        String tolerations = list("tolerations", 150, "{\"key\": \"a\", \"operator\": \"Exists\"}");
        assertEquals(
                new DatasetReference.ByName("u1/x"),
                use(add("first", "", tolerations).orElseThrow()));
        for (int index = 0; pods.bytes() < WaitingPods.MUCH; index++) {
            var _ = add("long-" + index, "", tolerations);
        }
        assertEquals(
                new DatasetReference.Unread(WaitingPods.LARGE),
                use(add("last", "", tolerations).orElseThrow()));
        assertEquals(
                new DatasetReference.ByName("u1/x"), use(add("usual", "", "").orElseThrow()));
    }

    @Test
    void whatIsPreferredIsKeptForTheChange() throws IOException {
        String preferred = "[{\"weight\":1,\"preference\":{\"matchExpressions\":[]}}]";
        WaitingPods.Waiting waiting = add(
                        "picky",
                        "",
                        ", \"affinity\": {\"nodeAffinity\": {\"preferredDuringSchedulingIgnoredDuringExecution\": "
                                + preferred + "}}")
                .orElseThrow();
        assertEquals(preferred, waiting.affinity().preferred());
    }
}
