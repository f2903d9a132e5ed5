package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Reads as many and as large pod events as an API server can send, in a process with a controller's memory.
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ManyPodEventsTest {
    private static final int PODS = 2_000;
    private static final int PAGE = 100;
    private static final int EVENTS = 100_000;

    /// Occurs twice per pod: 1.4 MB, with [#OWNERS].
    private static final String PADDING = "x".repeat(350_000);

    /// The gate reads parts of these: 700 KB.
    private static final String OWNERS = IntStream.range(0, 70)
            .mapToObj(index -> "{\"uid\": \"" + index + "x".repeat(10_000) + "\"}")
            .collect(Collectors.joining(","));

    /// Allowed heap growth after 80,000 more events.
    private static final long GROWTH_KIB = 1_024;

    @Test
    void largePodsAndManyEventsTakeNoMoreMemory(@TempDir Path folder) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/api/v1/pods", ManyPodEventsTest::answer);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
        try {
            JsonObject cluster = new JsonObject();
            cluster.addProperty(
                    "server", "http://127.0.0.1:" + server.getAddress().getPort());
            Path kubeconfig = TestCluster.kubeconfig(folder.resolve("kubeconfig"), cluster, "any");
            Process process = TenantObjectsProcess.withItsMemory(
                            ManyPodEventsProcess.class, kubeconfig.toString(), Integer.toString(EVENTS))
                    .start();
            List<String> said = output(process);
            assertEquals(0, process.exitValue(), said::toString);
            assertTrue(said.containsAll(List.of("waiting " + PODS, "running " + PODS, "end")), said::toString);
            List<Long> heap = said.stream()
                    .filter(line -> line.startsWith("heap "))
                    .map(line -> Long.parseLong(line.split(" ", -1)[1]))
                    .toList();
            assertEquals(EVENTS / ManyPodEventsProcess.EVERY + 1, heap.size(), said::toString);
            assertTrue(heap.getLast() - heap.get(1) < GROWTH_KIB, said::toString);
        } finally {
            server.stop(0);
        }
    }

    /// Leaves no process behind, also if the time limit ends the test.
    private static List<String> output(Process process) throws IOException, InterruptedException {
        try {
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(process.waitFor(60, TimeUnit.SECONDS), "it goes on");
            return said.lines().toList();
        } finally {
            process.destroyForcibly();
        }
    }

    private static void answer(HttpExchange exchange) throws IOException {
        String query = exchange.getRequestURI().getRawQuery();
        boolean isGated = query.contains("spec.nodeName%3D");
        exchange.sendResponseHeaders(200, 0);
        try (OutputStream out = new BufferedOutputStream(exchange.getResponseBody(), 1 << 16)) {
            if (query.contains("watch=true")) {
                watch(isGated, out);
            } else {
                page(query, isGated, out);
            }
        } catch (IOException ended) {
            // the process has read enough
        }
    }

    private static void page(String query, boolean isGated, OutputStream out) throws IOException {
        int from =
                query.contains("continue=") ? Integer.parseInt(query.replaceFirst(".*continue=([0-9]+).*", "$1")) : 0;
        String next = from + PAGE < PODS ? Integer.toString(from + PAGE) : "";
        write(out, "{\"metadata\": {\"resourceVersion\": \"1\", \"continue\": \"" + next + "\"}, \"items\": [");
        for (int index = from; index < from + PAGE; index++) {
            write(out, (index == from ? "" : ",") + pod(index, 1, isGated, isGated ? PADDING : ""));
        }
        write(out, "]}");
    }

    private static void watch(boolean isGated, OutputStream out) throws IOException {
        for (int event = 2; event < EVENTS + 10; event++) {
            write(out, "{\"type\": \"MODIFIED\", \"object\": " + pod(event % PODS, event, isGated, "") + "}\n");
        }
    }

    private static String pod(int index, int version, boolean isGated, String padding) {
        String where =
                isGated ? "\"schedulingGates\": [{\"name\": \"siphon.dev/dataset\"}]" : "\"nodeName\": \"node-1\"";
        return """
                {"metadata": {"namespace": "u1", "name": "p-%1$d", "uid": "uid-%1$d", "resourceVersion": "%2$d",
                              "annotations": {"note": "%3$s"}, "ownerReferences": [%6$s]},
                 "spec": {%4$s, "containers": [{"name": "c", "env": [{"name": "X", "value": "%3$s"}],
                                                "resources": {"requests": {"cpu": "1", "nvidia.com/gpu": "%5$d"}}}]}}
                """.formatted(index, version, padding, where, 1 + version % 3, padding.isEmpty() ? "" : OWNERS);
    }

    private static void write(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
    }
}
