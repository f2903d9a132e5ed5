package dev.siphon.node;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Reads the HTTP pages of a node process or of `siphon fuse`.
public final class OpsPages implements AutoCloseable {
    private static final Pattern PORT = Pattern.compile("\"ops_port\":(\\d+)");

    private final HttpClient http = HttpClient.newHttpClient();
    private final Supplier<String> log;

    public OpsPages(NodeProcess node) {
        this.log = node::log;
    }

    OpsPages(FuseProcess fuse) {
        this.log = fuse::log;
    }

    /// Returns status and text of `/readyz`.
    public String ready() {
        HttpResponse<String> response = get("/readyz");
        return response.statusCode() + " " + response.body();
    }

    /// Returns the value of a metric. The name includes the labels, as in `/metrics`.
    public String metric(String name) {
        String metrics = get("/metrics").body();
        Matcher matcher = Pattern.compile("^" + Pattern.quote(name) + " (\\S+)$", Pattern.MULTILINE)
                .matcher(metrics);
        return matcher.find() ? matcher.group(1) : "none";
    }

    private HttpResponse<String> get(String path) {
        await(() -> PORT.matcher(log.get()).find());
        Matcher port = PORT.matcher(log.get());
        assertTrue(port.find());
        URI uri = URI.create("http://127.0.0.1:" + port.group(1) + path);
        try {
            return http.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /// Waits up to 60 s until `condition` holds.
    public static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() < end, "not within 60 s");
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
    }

    @Override
    public void close() {
        http.close();
    }
}
