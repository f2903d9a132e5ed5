package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.IdentityGrpc;
import csi.v1.ProbeRequest;
import dev.siphon.csi.client.UnixSocketChannel;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Opens 10,000 hostile connections to each kind of socket, while the kubelet probes, Prometheus scrapes and
/// clients call.
final class HostileConnectionsTest {
    private static final int CONNECTIONS = 10_000;

    /// The probes' `timeoutSeconds` in the chart.
    private static final Duration PROBE = Duration.ofSeconds(5);

    /// The most memory that all connections together may add.
    private static final long MOST_KB = 64 << 10;

    @TempDir
    private Path dir;

    private Process process;
    private HttpClient client;
    private String[] ports = {};

    enum Kind {
        OPS,
        ROOT,
        HOLDERS,
        CSI
    }

    @BeforeEach
    void start() throws Exception {
        TestCertificate made = TestCertificate.create(dir);
        made.write(dir.resolve("crt"), dir.resolve("key"));
        Files.writeString(dir.resolve("token"), HostileTarget.TOKEN);
        client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .sslContext(made.trusting())
                .build();
        process = new ProcessBuilder(HostileTarget.command(dir))
                .redirectErrorStream(true)
                .redirectOutput(Redirect.to(dir.resolve("out").toFile()))
                .start();
        Eventually.is(() -> read("ports").endsWith("\n") || !process.isAlive());
        assertTrue(process.isAlive(), () -> read("out"));
        ports = read("ports").strip().split(" ");
    }

    @AfterEach
    void stop() throws InterruptedException {
        client.close();
        process.destroyForcibly();
        assertTrue(process.waitFor(10, TimeUnit.SECONDS));
    }

    @ParameterizedTest
    @EnumSource
    @Timeout(120) // a server that accepts no more connections leaves clients waiting
    void probesMetricsAndOthersAreAnsweredAndMemoryIsBounded(Kind kind) throws Exception {
        askAll(kind);
        long before = residentKb();
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Integer> asked = CompletableFuture.supplyAsync(() -> {
            int rounds = 0;
            for (; !over.get(); rounds++) {
                askAll(kind);
            }
            return rounds;
        });
        try (HostilePeer peer = new HostilePeer(address(kind))) {
            peer.open(CONNECTIONS);
            over.set(true);
            assertTrue(asked.get(30, TimeUnit.SECONDS) > 0, "asked while they came");
            askAll(kind); // while the last connections are still open
            assertTrue(process.isAlive(), () -> read("out"));
        }
        long more = residentKb() - before;
        assertTrue(more < MOST_KB, () -> "resident memory grew by " + more + " KB");
    }

    private SocketAddress address(Kind kind) {
        return switch (kind) {
            case OPS -> new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(ports[0]));
            case HOLDERS -> new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(ports[1]));
            case ROOT -> UnixDomainSocketAddress.of(dir.resolve("http.sock"));
            case CSI -> UnixDomainSocketAddress.of(dir.resolve("csi.sock"));
        };
    }

    /// Sends the requests of the kubelet, of Prometheus and of a user of the attacked socket.
    private void askAll(Kind kind) {
        assertEquals(200, get("http://127.0.0.1:" + ports[0] + "/healthz").statusCode());
        assertEquals(200, get("http://127.0.0.1:" + ports[0] + "/readyz").statusCode());
        assertEquals(200, get("http://127.0.0.1:" + ports[0] + "/metrics").statusCode());
        switch (kind) {
            case OPS -> {}
            case HOLDERS ->
                assertEquals(200, get("https://127.0.0.1:" + ports[1] + "/").statusCode());
            case ROOT ->
                assertEquals(
                        200,
                        SocketHttp.ask(dir.resolve("http.sock"), "GET", "/").status());
            case CSI -> {
                try (UnixSocketChannel channel = UnixSocketChannel.open(new UnixEndpoint(dir.resolve("csi.sock")))) {
                    assertTrue(IdentityGrpc.newBlockingStub(channel.channel())
                            // as sidecars do: a socket with a full backlog refuses for a moment
                            .withWaitForReady()
                            .withDeadlineAfter(PROBE)
                            .probe(ProbeRequest.getDefaultInstance())
                            .getReady()
                            .getValue());
                }
            }
        }
    }

    private HttpResponse<String> get(String uri) {
        try {
            return client.send(
                    HttpRequest.newBuilder(URI.create(uri))
                            .header("Authorization", "Bearer " + HostileTarget.TOKEN)
                            .timeout(PROBE)
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new AssertionError(uri + " is not answered. " + read("out"), e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /// Returns the process's peak resident memory.
    private long residentKb() throws IOException {
        Matcher peak = Pattern.compile("^VmHWM:\\s+(\\d+) kB$", Pattern.MULTILINE)
                .matcher(Files.readString(Path.of("/proc", Long.toString(process.pid()), "status")));
        assertTrue(peak.find());
        return Long.parseLong(peak.group(1));
    }

    private String read(String file) {
        try {
            return Files.exists(dir.resolve(file)) ? Files.readString(dir.resolve(file)) : "";
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
