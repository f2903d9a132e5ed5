package dev.siphon.csi.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.Monitors;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class MonitorCheckTest {
    private final Checklist list = new Checklist(Duration.ofSeconds(5));

    @Test
    void eachMonitorThatIsSilentIsNamed() throws IOException {
        int closed;
        try (ServerSocket socket = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            closed = socket.getLocalPort();
        }
        try (ServerSocket socket = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            String open = "v2:127.0.0.1:" + socket.getLocalPort();
            MonitorCheck.run(list, "monitors", Monitors.parse(open));
            assertEquals(0, list.exit());
            MonitorCheck.run(list, "monitors", Monitors.parse(open + ",v2:127.0.0.1:" + closed));
            assertEquals(1, list.exit());
        }
        String failed = list.table().json().getLast();
        assertTrue(failed.contains("no connection to 127.0.0.1:" + closed + "\""), failed);
        assertTrue(failed.contains("ceph mon dump"), failed);
    }
}
