package dev.siphon.csi.server;

import com.google.gson.JsonObject;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A process with one socket of each kind that Siphon has, run with Siphon's JVM options.
final class HostileTarget {
    static final String TOKEN = "0123456789abcdef0123456789abcdef";

    private static final Path LAUNCHER = Path.of("..", "..", "deploy", "src", "build", "siphon");

    /// As many as a controller with several hundred accounts has.
    private static final int SERIES = 3_000;

    private HostileTarget() {}

    /// Returns the command that starts the process.
    ///
    /// @param dir contains `crt`, `key` and `token`; receives the sockets, and `ports` once all serve
    static List<String> command(Path dir) throws IOException {
        Matcher memory = Pattern.compile("^memory=\"(\\S+) -Xmx\\$\\{SIPHON_MEMORY:-(\\w+)}\"$", Pattern.MULTILINE)
                .matcher(Files.readString(LAUNCHER));
        if (!memory.find()) {
            throw new AssertionError(LAUNCHER + " gives the virtual machine no memory");
        }
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                memory.group(1),
                "-Xmx" + memory.group(2),
                "-XX:+UseSerialGC",
                "-XX:+UseCompactObjectHeaders",
                "-XX:+ExitOnOutOfMemoryError",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                System.getProperty("java.class.path"),
                HostileTarget.class.getName(),
                dir.toString());
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        JsonLogging.start(org.slf4j.event.Level.WARN);
        Path dir = Path.of(args[0]);
        PrometheusRegistry metrics = new PrometheusRegistry();
        Gauge accounts = Gauge.builder()
                .name("accounts")
                .labelNames("account")
                .help("As a large cluster has.")
                .register(metrics);
        for (int i = 0; i < SERIES; i++) {
            accounts.labelValues("account-of-a-researcher-" + i).set(i);
        }
        DriverProcess process = DriverProcess.start(
                new ServerConfig(
                        DriverName.DEFAULT,
                        new UnixEndpoint(dir.resolve("csi.sock")),
                        new OpsAddress("127.0.0.1", 0),
                        Duration.ofSeconds(5),
                        Duration.ofSeconds(1),
                        Duration.ofSeconds(2)),
                new DriverProcess.Parts(List.of(), List.of(), Optional::empty, metrics));
        HttpCall.Pages pages = _ -> HttpCall.Reply.json(200, new JsonObject());
        HttpServer.startForRoot(new UnixEndpoint(dir.resolve("http.sock")), pages);
        BearerTokenAuth auth = new BearerTokenAuth(dir.resolve("crt"), dir.resolve("key"), dir.resolve("token"));
        HttpServer holders = HttpServer.startWithTls(new OpsAddress("127.0.0.1", 0), auth, auth, pages);
        Files.writeString(
                dir.resolve("ports"),
                process.opsAddress().getPort() + " "
                        + holders.address().orElseThrow().getPort() + "\n");
        new CountDownLatch(1).await();
    }
}
