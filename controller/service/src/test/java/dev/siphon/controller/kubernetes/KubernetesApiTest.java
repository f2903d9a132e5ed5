package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.sun.net.httpserver.HttpServer;
import dev.siphon.controller.key.KeyStore;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// How calls fail when an API server misbehaves.
@Timeout(60)
final class KubernetesApiTest {
    private static final VolumeId.Provisioned VOLUME = new VolumeId.Provisioned("lab", "cephfs", "a1", "v1");
    private static final VolumeKey KEY = new VolumeKey("siphon.cephfs.a1.v1", "sesame");
    private static final Duration SHORT = Duration.ofMillis(300);

    @TempDir
    private Path folder = Path.of("");

    private KubernetesAccess access(String url) {
        JsonObject cluster = new JsonObject();
        cluster.addProperty("server", url);
        return new KubernetesAccess(
                "siphon", Optional.of(TestCluster.kubeconfig(folder.resolve("kubeconfig"), cluster, "open sesame")));
    }

    private static KubernetesAdapter open(KubernetesAccess access, Duration timeLeft) {
        return KubernetesAdapter.open(access, "cephfs.siphon.dev", () -> timeLeft);
    }

    private static String refusal(Class<? extends DriverException> kind, KubernetesAdapter adapter) {
        KeyStore store = adapter.keys();
        store.named(VOLUME, "pvc-1");
        String message = assertThrows(kind, () -> store.put(VOLUME, KEY)).getMessage();
        assertFalse(message.contains("sesame"), message);
        return message;
    }

    @Test
    void whoeverIsSilentIsWaitedForNoLongerThanTheCallerCan() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                KubernetesAdapter adapter = open(access("http://127.0.0.1:" + silent.getLocalPort()), SHORT)) {
            long begin = System.nanoTime();
            String message = refusal(DriverException.BackendUnavailable.class, adapter);
            assertTrue(message.contains("no answer within 300 ms"), message);
            Duration took = Duration.ofNanos(System.nanoTime() - begin);
            assertTrue(took.compareTo(Duration.ofSeconds(20)) < 0, took.toString());
        }
    }

    @Test
    void whatNobodyWaitsForAnyMoreIsGivenUp() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                KubernetesApi api =
                        new KubernetesApi(access("http://127.0.0.1:" + silent.getLocalPort()), () -> SHORT)) {
            assertThrows(
                    DriverException.BackendUnavailable.class,
                    () -> api.read("get it", "/api/v1/it", InputStream::read));
            try (Socket asked = silent.accept()) {
                // shorter than the longest time of a request
                asked.setSoTimeout(3_000);
                String request = new String(asked.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
                assertTrue(request.startsWith("GET /api/v1/it "), request);
            }
        }
    }

    @Test
    void whoeverAsksAfterTheEndIsToldSo() {
        KubernetesAdapter adapter = open(access("http://127.0.0.1:1"), SHORT);
        adapter.close();
        assertTrue(refusal(DriverException.BackendUnavailable.class, adapter).contains("the driver is stopping"));
    }

    @Test
    void whoeverDoesNotListenIsUnavailable() throws IOException {
        int port;
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = closed.getLocalPort();
        }
        try (KubernetesAdapter adapter = open(access("http://127.0.0.1:" + port), TestCluster.PATIENT)) {
            String message = refusal(DriverException.BackendUnavailable.class, adapter);
            assertTrue(message.contains("cannot be reached"), message);
        }
    }

    @ParameterizedTest(name = "{0} is {1}")
    @CsvSource({
        "400, BackendFault",
        "401, AccessDenied",
        "403, AccessDenied",
        "404, BackendUnavailable",
        "410, BackendUnavailable",
        "422, BackendFault",
        "429, BackendUnavailable",
        "500, BackendUnavailable",
        "503, BackendUnavailable"
    })
    void everyCodeHasAMeaning(int code, String kind) throws IOException, ClassNotFoundException {
        HttpServer server = answering(code, "{\"kind\": \"Status\", \"apiVersion\": \"v1\", \"message\": \"because\"}");
        try (KubernetesAdapter adapter = open(access(url(server)), TestCluster.PATIENT)) {
            Class<? extends DriverException> wanted =
                    Class.forName(DriverException.class.getName() + "$" + kind).asSubclass(DriverException.class);
            String message = refusal(wanted, adapter);
            assertTrue(message.contains("create Secret siphon/pvc-1 was answered with " + code), message);
        } finally {
            server.stop(0);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "sesame",
                "{\"sesame",
                "{\"data\": \"sesame\"}",
                "[\"sesame\"]",
                "{\"data\": {\"userKey\": [\"sesame\"]}}"
            })
    void whatIsNoAnswerIsNotQuoted(String body) throws IOException {
        HttpServer server = answering(200, body);
        try (KubernetesAdapter adapter = open(access(url(server)), TestCluster.PATIENT)) {
            DriverException broken =
                    assertThrows(DriverException.class, () -> adapter.keys().volumes());
            assertFalse(broken.getMessage().contains("sesame"), broken.getMessage());
            assertEquals(Optional.empty(), Optional.ofNullable(broken.getCause()), "it would be logged, and quotes");
        } finally {
            server.stop(0);
        }
    }

    @Test
    void aKubeconfigThatIsNoneIsRefusedAndNotQuoted() throws IOException {
        Path file = folder.resolve("broken");
        for (String text :
                new String[] {"token: [sesame", "sesame", "{\"users\": \"sesame\"}", "current-context: sesame"}) {
            Files.writeString(file, text);
            KubernetesAccess access = new KubernetesAccess("siphon", Optional.of(file));
            String message =
                    assertThrows(IllegalArgumentException.class, access::check).toString();
            assertFalse(message.contains("sesame"), message);
            assertTrue(message.contains(file.toString()), message);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Siphon", "a/b", "-a", "a.b"})
    void whatIsNoNamespaceIsRefused(String namespace) {
        assertThrows(IllegalArgumentException.class, () -> new KubernetesAccess(namespace, Optional.empty()));
    }

    @Test
    void outsideOfPodsAKubeconfigIsNeeded() {
        KubernetesAccess access = new KubernetesAccess("siphon", Optional.empty());
        String message =
                assertThrows(IllegalArgumentException.class, access::check).toString();
        assertTrue(message.contains("--kubeconfig"), message);
        Path missing = folder.resolve("missing");
        assertThrows(IllegalArgumentException.class, () -> new KubernetesAccess("siphon", Optional.of(missing)));
    }

    private static HttpServer answering(int code, String body) throws IOException {
        byte[] text = body.getBytes(StandardCharsets.UTF_8);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            try (exchange) {
                exchange.sendResponseHeaders(code, text.length == 0 ? -1 : text.length);
                exchange.getResponseBody().write(text);
            }
        });
        server.start();
        return server;
    }

    private static String url(HttpServer server) {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }
}
