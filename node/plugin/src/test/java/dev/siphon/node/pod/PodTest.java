package dev.siphon.node.pod;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class PodTest {
    private static final Pod POD = new Pod("u1", "train-0.b", "0d7e5c1a-1");
    private static final Map<String, String> CONTEXT =
            Map.of(Pod.NAMESPACE, "u1", Pod.NAME, "train-0.b", Pod.UID, "0d7e5c1a-1", "other", "x");

    @Test
    void theKubeletSaysWhoseItIs() {
        assertEquals(Optional.of(POD), Pod.ofContext(CONTEXT));
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {Pod.NAMESPACE, Pod.NAME, Pod.UID})
    void anOrchestratorThatSaysLessHasNone(String missing) {
        Map<String, String> context = new HashMap<>(CONTEXT);
        context.remove(missing);
        assertEquals(Optional.empty(), Pod.ofContext(context));
    }

    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({
        Pod.NAMESPACE + ", kube-system/pods/x",
        Pod.NAMESPACE + ", ../../x",
        Pod.NAMESPACE + ", a.b",
        Pod.NAMESPACE + ", ''",
        Pod.NAME + ", A",
        Pod.NAME + ", a b",
        Pod.NAME + ", -a",
        Pod.UID + ", a?b",
        Pod.UID + ", ''",
    })
    void whatNoPodIsCalledIsNone(String key, String value) {
        Map<String, String> context = new HashMap<>(CONTEXT);
        context.put(key, value);
        assertEquals(Optional.empty(), Pod.ofContext(context));
    }

    @Test
    void whatWasWrittenIsRead() {
        assertEquals(Optional.of(POD), Pod.parse(POD.toJson()));
    }

    @ParameterizedTest(name = "<{0}>")
    @ValueSource(strings = {"", "x", "[]", "{}", "1", "{\"csi.storage.k8s.io/pod.name\": []}", "null"})
    void anythingElseIsNone(String text) {
        assertEquals(Optional.empty(), Pod.parse(text));
    }
}
