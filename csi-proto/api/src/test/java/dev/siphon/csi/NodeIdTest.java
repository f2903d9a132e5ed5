package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class NodeIdTest {
    @ParameterizedTest
    @ValueSource(strings = {"n", "gpu-1", "gpu_1.lab.example", "gpu-1@10.0.0.1", "gpu-1@fd00::1"})
    void anIdReadsBackAsItWasWritten(String text) {
        assertEquals(text, NodeId.parse(text).toString());
    }

    @Test
    void theAddressIsOptional() {
        assertEquals(new NodeId("n", Optional.empty()), NodeId.parse("n"));
        assertEquals(new NodeId("n", Optional.of("10.0.0.1")), NodeId.parse("n@10.0.0.1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "@", "n@", "-n", "n-", "a b", "n@host", "n@10.0.0.1@x", "n/x", "n\n", "n@10.0.0.1/32"})
    void anyOtherIsRefused(String text) {
        assertEquals(Optional.empty(), NodeId.tryParse(text));
        assertThrows(DriverException.InvalidRequest.class, () -> NodeId.parse(text));
    }

    @Test
    void theLongestIdFitsCsi() {
        String longest = "n".repeat(192) + "@" + "f".repeat(39);
        assertEquals(longest, NodeId.parse(longest).toString());
        assertEquals(Optional.empty(), NodeId.tryParse("n".repeat(193)));
    }
}
