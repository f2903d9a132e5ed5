package dev.siphon.controller.monitor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RookEndpointsTest {
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
            one, both messengers      | a=10.0.0.1:6789                      |   | [v2:10.0.0.1:3300,v1:10.0.0.1:6789]
            one, messenger v2 alone   | a=10.0.0.1:3300                      |   | [v2:10.0.0.1:3300]
            a port of its own for v1  | a=10.0.0.1:6790                      |   | [v2:10.0.0.1:3300,v1:10.0.0.1:6790]
            in the order of names     | c=10.0.0.3:3300,a=10.0.0.1:3300      |   | [v2:10.0.0.1:3300],[v2:10.0.0.3:3300]
            IPv6                      | a=[fd00::1]:6789                     |   | [v2:[fd00::1]:3300,v1:[fd00::1]:6789]
            one is out of quorum      | a=10.0.0.1:3300,b=10.0.0.2:3300      | a | [v2:10.0.0.2:3300]
            all are out of quorum     | a=10.0.0.1:3300                      | a | [v2:10.0.0.1:3300]
            an unknown one is out     | a=10.0.0.1:3300                      | d | [v2:10.0.0.1:3300]
            """)
    void monitorsAreThoseThatRookItselfConnectsTo(String name, String endpoints, String out, String expected) {
        Map<String, String> data = Map.of("data", endpoints, "outOfQuorum", out == null ? "" : out);
        assertEquals(expected, String.join(",", RookEndpoints.monitors(data)), name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.0.0.1:6789", "a=10.0.0.1", "a=10.0.0.1:6789,b", "a=10.0.0.1:99999", "a=x y:6789"})
    void whatIsNoEndpointIsSaid(String endpoints) {
        assertThrows(DriverException.class, () -> RookEndpoints.monitors(Map.of("data", endpoints)));
    }

    @Test
    void aConfigMapOfAClusterThatHasNoMonitorsYet() {
        DriverException none =
                assertThrows(DriverException.BackendFault.class, () -> RookEndpoints.monitors(Map.of("data", "")));
        assertTrue(String.valueOf(none.getMessage()).contains("names no monitor"), none.getMessage());
    }
}
