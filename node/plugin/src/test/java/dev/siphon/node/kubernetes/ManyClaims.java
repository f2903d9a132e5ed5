package dev.siphon.node.kubernetes;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/// A Kubernetes API with one GPU per node, and namespaces whose tenants create as many claims as possible. In each,
/// pod `train` has the GPU through the last claim, if that is ever sent.
final class ManyClaims implements AutoCloseable {
    /// The largest opaque parameters that a claim may have, in the form that needs most memory.
    private static final String LARGE = "[" + "{},".repeat(110_000) + "{}]";

    private final HttpServer server;
    private final ExecutorService requests = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong asked = new AtomicLong();

    ManyClaims() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(requests);
        server.createContext("/", this::answer);
        server.start();
    }

    String uri() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /// Returns the bytes of replies that clients have read.
    long sent() {
        return sent.get();
    }

    /// Returns the number of requests for claims.
    long asked() {
        return asked.get();
    }

    private void answer(HttpExchange exchange) {
        String[] path = exchange.getRequestURI().getPath().split("/", -1);
        int from = Arrays.stream(exchange.getRequestURI().getQuery().split("&", -1))
                .filter(each -> each.startsWith("continue="))
                .mapToInt(each -> Integer.parseInt(each.substring("continue=".length())))
                .findFirst()
                .orElse(0);
        try (exchange) {
            exchange.sendResponseHeaders(200, 0);
            OutputStream body = exchange.getResponseBody();
            if (path[path.length - 1].equals("resourceslices")) {
                write(
                        body,
                        "{\"metadata\": {}, \"items\": [{\"spec\": {\"driver\": \"gpu.example.com\", \"nodeName\": \"n\","
                                + " \"pool\": {\"name\": \"n\"}, \"devices\": [{\"name\": \"gpu-0\"}]}}]}");
            } else {
                asked.incrementAndGet();
                claims(body, path[path.length - 2], from);
            }
        } catch (IOException _) {
            // the client did not read to the end
        }
    }

    private void claims(OutputStream body, String namespace, int from) throws IOException {
        switch (namespace) {
            case "honest" -> page(body, from, 5_000, "{}");
            case "large" -> page(body, from, 45, LARGE);
            case "too-many" -> page(body, from, 5_000, LARGE);
            case "endless-pages" -> page(body, from, Integer.MAX_VALUE, "{}");
            case "endless-text" -> endless(body, "{\"items\": [{\"spec\": \"", "x".repeat(8192));
            case "endless-items" -> endless(body, "{\"items\": [{}", ",{\"spec\": {}}".repeat(500));
            default -> endless(body, "", " ".repeat(8192));
        }
    }

    private void page(OutputStream body, int from, int all, String opaque) throws IOException {
        int to = (int) Math.min(all, from + 100L);
        write(body, "{\"items\": [");
        for (int number = from; number < to; number++) {
            String pod = number == all - 1 ? "train" : "pod-" + number;
            write(
                    body,
                    (number == from ? "" : ",")
                            + "{\"spec\": {\"devices\": {\"config\": [{\"opaque\": {\"parameters\": ");
            write(body, opaque);
            write(
                    body,
                    "}}]}}, \"status\": {\"reservedFor\": [{\"resource\": \"pods\", \"name\": \"" + pod + "\"}],"
                            + " \"allocation\": {\"devices\": {\"results\": [{\"driver\": \"gpu.example.com\", \"pool\": \"n\","
                            + " \"device\": \"gpu-0\"}]}}}}");
        }
        write(body, "], \"metadata\": {" + (to < all ? "\"continue\": \"" + to + "\"" : "") + "}}");
    }

    private void endless(OutputStream body, String begin, String more) throws IOException {
        write(body, begin);
        while (!requests.isShutdown()) {
            write(body, more);
        }
    }

    private void write(OutputStream body, String text) throws IOException {
        body.write(text.getBytes(StandardCharsets.UTF_8));
        sent.addAndGet(text.length());
    }

    @Override
    public void close() {
        server.stop(0);
        requests.shutdownNow();
    }
}
