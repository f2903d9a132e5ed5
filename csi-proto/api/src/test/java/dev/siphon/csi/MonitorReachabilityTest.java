package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class MonitorReachabilityTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private static ServerSocket listening() throws IOException {
        return new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
    }

    private static Monitors monitors(int... ports) {
        return Monitors.parse(String.join(
                ",",
                java.util.Arrays.stream(ports)
                        .mapToObj(port -> "v2:127.0.0.1:" + port)
                        .toList()));
    }

    private static int closedPort() throws IOException {
        try (ServerSocket socket = listening()) {
            return socket.getLocalPort();
        }
    }

    @Test
    void aClusterWhoseMonitorsAnswerIsNoFinding() throws IOException {
        try (ServerSocket monitor = listening()) {
            assertEquals(
                    List.of(), MonitorReachability.findUnreachable(List.of(monitors(monitor.getLocalPort())), LIMIT));
        }
    }

    @Test
    void aClusterIsDegradedWhenSomeAnswerAndCutOffWhenNone() throws IOException {
        int closed = closedPort();
        try (ServerSocket monitor = listening()) {
            var partly = MonitorReachability.findUnreachable(List.of(monitors(monitor.getLocalPort(), closed)), LIMIT);
            assertEquals(1, partly.size());
            assertFalse(partly.getFirst().isCutOff());
            assertEquals(closed, partly.getFirst().unreachable().getFirst().port());
        }
        assertTrue(MonitorReachability.findUnreachable(List.of(monitors(closed)), LIMIT)
                .getFirst()
                .isCutOff());
    }

    @Test
    void aNodeWithoutVolumesFindsNothing() {
        assertEquals(List.of(), MonitorReachability.findUnreachable(List.of(), LIMIT));
    }
}
