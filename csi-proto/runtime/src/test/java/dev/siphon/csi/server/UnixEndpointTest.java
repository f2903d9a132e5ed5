package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class UnixEndpointTest {
    @ParameterizedTest
    @CsvSource({
        "unix:///csi/csi.sock, /csi/csi.sock",
        "unix:/csi/csi.sock, /csi/csi.sock",
        "/csi/csi.sock, /csi/csi.sock",
        "unix:///csi/../csi//csi.sock, /csi/csi.sock"
    })
    void theFormsThatSidecarsUseAreRead(String text, String path) {
        assertEquals(path, UnixEndpoint.parse(text).path().toString());
        assertEquals("unix://" + path, UnixEndpoint.parse(text).toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "unix://", "unix:csi.sock", "csi.sock", "tcp://127.0.0.1:1", "/", "unix:///", "/a\u0000"})
    void anyOtherIsRefused(String text) {
        assertThrows(IllegalArgumentException.class, () -> UnixEndpoint.parse(text));
    }

    @Test
    void aPathThatTheKernelCannotHoldIsRefusedAtOnce() {
        assertEquals(
                107, UnixEndpoint.parse("/" + "x".repeat(106)).path().toString().length());
        assertThrows(IllegalArgumentException.class, () -> UnixEndpoint.parse("/" + "x".repeat(107)));
        // the path fits, but the temporary name that is bound first does not
        assertThrows(IllegalArgumentException.class, () -> UnixEndpoint.parse("/" + "x".repeat(100) + "/s"));
    }
}
