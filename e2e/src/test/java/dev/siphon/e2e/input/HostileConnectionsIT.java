package dev.siphon.e2e.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.ProbeRequest;
import dev.siphon.csi.server.HostilePeer;
import dev.siphon.csi.server.TestCertificate;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.ServedProcess;
import dev.siphon.e2e.lab.Await;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/// Opens 10,000 hostile connections at each socket of controller and node, while the kubelet probes, a scraper
/// reads metrics and a sidecar calls.
@ExtendWith(LeavesNothingBehind.class)
@Timeout(240) // a server that accepts no more connections leaves clients waiting
final class HostileConnectionsIT {
    private static final int CONNECTIONS = 10_000;
    private static final String TOKEN = "0123456789abcdef0123456789abcdef";

    /// The probes' `timeoutSeconds` in the chart.
    private static final Duration PROBE = Duration.ofSeconds(5);

    /// The most memory that one socket's connections may add to the process.
    private static final long MOST_BYTES = 64 << 20;

    @Test
    void theControllerServesOn() throws Exception {
        try (DriverFolder folder = DriverFolder.create();
                ServedProcess controller = folder.controller()) {
            attack(controller, List.of(controller.opsAddress(), unix(folder.file("controller.sock"))));
        }
    }

    @Test
    void theNodeServesOn() throws Exception {
        try (DriverFolder folder = DriverFolder.create()) {
            TestCertificate.create(folder.file(".")).write(folder.file("crt"), folder.file("key"));
            Files.writeString(folder.file("token"), TOKEN);
            int port = DriverFolder.freePort();
            try (ServedProcess node = folder.node(
                    "node",
                    "--http-host=127.0.0.1",
                    "--http-port=" + port,
                    "--http-tls-cert=" + folder.file("crt"),
                    "--http-tls-key=" + folder.file("key"),
                    "--http-token-file=" + folder.file("token"))) {
                attack(
                        node,
                        List.of(
                                node.opsAddress(),
                                unix(folder.file("node.sock")),
                                unix(folder.file("node-state").resolve("http.sock")),
                                new InetSocketAddress(InetAddress.getLoopbackAddress(), port)));
            }
        }
    }

    private static SocketAddress unix(Path socket) {
        return UnixDomainSocketAddress.of(socket);
    }

    private static void attack(ServedProcess process, List<SocketAddress> sockets) throws Exception {
        for (SocketAddress socket : sockets) {
            ask(process);
            long before = process.peakBytes();
            AtomicBoolean over = new AtomicBoolean();
            CompletableFuture<Integer> asked = CompletableFuture.supplyAsync(() -> {
                int rounds = 0;
                for (; !over.get(); rounds++) {
                    ask(process);
                }
                return rounds;
            });
            try (HostilePeer peer = new HostilePeer(socket)) {
                peer.open(CONNECTIONS);
                over.set(true);
                assertTrue(asked.get(30, TimeUnit.SECONDS) > 0, () -> "asked while they came to " + socket);
                ask(process); // and while the last are still open
            }
            assertTrue(process.isAlive(), process::log);
            long more = process.peakBytes() - before;
            assertTrue(more < MOST_BYTES, () -> socket + " took " + more + " bytes");
        }
        var _ = Await.until("it is ready", PROBE, () -> process.readyz() == 200);
    }

    /// Makes the requests of the kubelet, a scraper and a sidecar.
    private static void ask(ServedProcess process) {
        assertEquals(200, process.healthz());
        assertTrue(process.metrics().contains("siphon_"));
        try (CsiClient client = CsiClient.to(process.endpoint())) {
            var _ = client.within(PROBE).identity().probe(ProbeRequest.getDefaultInstance());
        }
    }
}
