package dev.siphon.e2e.monitoring;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.lab.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/// A Prometheus on a port of the loopback interface, which scrapes each second. Closing ends it.
final class Prometheus implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofMinutes(1);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(30);
    private static final int HTTP_MILLIS = 10_000;

    private final Process process;
    private final int port;

    private Prometheus(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    /// Starts one and waits until it answers.
    ///
    /// @param folder for its configuration, data and log
    /// @param jobs the processes to scrape, by the name of their job
    static Prometheus start(Path folder, Map<String, InetSocketAddress> jobs, AlertRules rules) {
        try {
            Files.createDirectories(folder);
            Files.writeString(folder.resolve("alerts.yaml"), rules.text());
            Files.writeString(folder.resolve("prometheus.yaml"), configuration(jobs));
            int port = DriverFolder.freePort();
            Process process = new ProcessBuilder(
                            PrometheusProgram.PROMETHEUS.path(),
                            "--config.file=" + folder.resolve("prometheus.yaml"),
                            "--storage.tsdb.path=" + folder.resolve("data"),
                            "--web.listen-address=127.0.0.1:" + port,
                            "--log.level=warn")
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve("log").toFile())
                    .start();
            Prometheus prometheus = new Prometheus(process, port);
            Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(process::destroyForcibly));
            Await.until("Prometheus, by " + folder.resolve("log"), START_LIMIT, () -> prometheus.isReady());
            return prometheus;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String configuration(Map<String, InetSocketAddress> jobs) {
        return """
                global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
                rule_files: [alerts.yaml]
                scrape_configs:
                """
                + jobs.entrySet().stream()
                        .map(job -> "  - {job_name: %s, static_configs: [{targets: ['127.0.0.1:%d']}]}\n"
                                .formatted(job.getKey(), job.getValue().getPort()))
                        .collect(Collectors.joining());
    }

    private boolean isReady() {
        if (!process.isAlive()) {
            throw new AssertionError("Prometheus ended with " + process.exitValue());
        }
        try {
            return connect("/-/ready").getResponseCode() == HttpURLConnection.HTTP_OK;
        } catch (IOException _) {
            return false;
        }
    }

    private HttpURLConnection connect(String path) throws IOException {
        var connection = (HttpURLConnection)
                URI.create("http://127.0.0.1:" + port + path).toURL().openConnection();
        connection.setConnectTimeout(HTTP_MILLIS);
        connection.setReadTimeout(HTTP_MILLIS);
        return connection;
    }

    private JsonObject data(String path) {
        try (var body = connect(path).getInputStream()) {
            return JsonParser.parseString(new String(body.readAllBytes(), StandardCharsets.UTF_8))
                    .getAsJsonObject()
                    .getAsJsonObject("data");
        } catch (IOException e) {
            throw new UncheckedIOException(path, e);
        }
    }

    private static Stream<JsonObject> objects(JsonArray array) {
        return StreamSupport.stream(array.spliterator(), false).map(JsonElement::getAsJsonObject);
    }

    /// Returns the names of the alerts that fire.
    Set<String> firing() {
        return objects(data("/api/v1/alerts").getAsJsonArray("alerts"))
                .filter(alert -> "firing".equals(alert.get("state").getAsString()))
                .map(alert -> alert.getAsJsonObject("labels").get("alertname").getAsString())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /// Returns the values that a query has now, without those that are no number.
    List<Double> values(String query) {
        String encoded = URLEncoder.encode(query, StandardCharsets.UTF_8);
        return objects(data("/api/v1/query?query=" + encoded).getAsJsonArray("result"))
                .map(result -> result.getAsJsonArray("value").get(1).getAsDouble())
                .filter(value -> !value.isNaN())
                .toList();
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(STOP_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("Prometheus has not ended within " + STOP_LIMIT);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            process.destroyForcibly();
        }
    }
}
