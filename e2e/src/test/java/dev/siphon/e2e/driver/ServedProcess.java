package dev.siphon.e2e.driver;

import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.e2e.lab.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A process of the driver under test. It serves CSI on a socket and operators' HTTP on a port. Closing terminates
/// it.
public final class ServedProcess implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(30);
    private static final Duration HTTP_LIMIT = Duration.ofSeconds(5);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(40);
    private static final List<String> OF_THE_LAB = List.of("CEPH_CONF", "CEPH_KEYRING", "CEPH_ARGS");

    private final Process process;
    private final UnixEndpoint endpoint;
    private final int opsPort;
    private final Path log;
    private final Thread endWithUs;

    private ServedProcess(Process process, UnixEndpoint endpoint, int opsPort, Path log) {
        this.process = process;
        this.endpoint = endpoint;
        this.opsPort = opsPort;
        this.log = log;
        this.endWithUs = Thread.ofPlatform().unstarted(process::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(endWithUs);
    }

    /// Starts a process; it may not serve yet when this returns.
    ///
    /// @param command a command line whose flags name `endpoint` and `opsPort`
    /// @param log the file that its output is appended to
    public static ServedProcess start(List<String> command, UnixEndpoint endpoint, int opsPort, Path log) {
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        // the process gets its flags only, nothing from the lab's environment
        OF_THE_LAB.forEach(builder.environment()::remove);
        try {
            return new ServedProcess(builder.start(), endpoint, opsPort, log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns the endpoint of CSI.
    public UnixEndpoint endpoint() {
        return endpoint;
    }

    /// Returns the address of operators' HTTP.
    public InetSocketAddress opsAddress() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), opsPort);
    }

    /// Returns the process id.
    public long pid() {
        return process.pid();
    }

    /// Returns whether the process is running.
    public boolean isAlive() {
        return process.isAlive();
    }

    /// Waits until `/readyz` returns 200.
    public ServedProcess awaitReady() {
        awaitHttp("ready", () -> readyz() == 200);
        return this;
    }

    /// Waits until `/healthz` returns 200.
    public ServedProcess awaitServing() {
        awaitHttp("serving", () -> healthz() == 200);
        return this;
    }

    private void awaitHttp(String what, java.util.function.BooleanSupplier condition) {
        Await.until(what + ", by " + log, START_LIMIT, () -> {
            if (!process.isAlive()) {
                throw new AssertionError("the driver ended with " + process.exitValue() + ":\n" + tail());
            }
            return condition.getAsBoolean();
        });
    }

    /// Returns the HTTP status of `/healthz`; 0 without a reply.
    public int healthz() {
        return status("/healthz");
    }

    /// Returns the HTTP status of `/readyz`; 0 without a reply.
    public int readyz() {
        return status("/readyz");
    }

    /// Returns the text of `/metrics`.
    public String metrics() {
        try {
            HttpURLConnection connection = connect("/metrics");
            try (var body = connection.getInputStream()) {
                return new String(body.readAllBytes(), StandardCharsets.UTF_8);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private int status(String path) {
        try {
            HttpURLConnection connection = connect(path);
            int status = connection.getResponseCode();
            connection.disconnect();
            return status;
        } catch (IOException e) {
            return 0;
        }
    }

    private HttpURLConnection connect(String path) throws IOException {
        var connection = (HttpURLConnection)
                URI.create("http://127.0.0.1:" + opsPort + path).toURL().openConnection();
        connection.setConnectTimeout((int) HTTP_LIMIT.toMillis());
        connection.setReadTimeout((int) HTTP_LIMIT.toMillis());
        return connection;
    }

    /// Returns the resident memory in bytes (`VmRSS` in proc_pid_status(5)).
    public long residentBytes() {
        return memoryBytes("VmRSS:");
    }

    /// Returns the peak of the resident memory in bytes (`VmHWM`).
    public long peakBytes() {
        return memoryBytes("VmHWM:");
    }

    private long memoryBytes(String field) {
        try {
            return Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status")).stream()
                            .filter(line -> line.startsWith(field))
                            .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                            .findFirst()
                            .orElseThrow()
                    * 1024;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Sends SIGTERM and waits until the process has ended.
    ///
    /// @return its exit status
    /// @throws AssertionError if it has not ended in time
    public int terminate(Duration atMost) {
        process.destroy();
        return awaitEnd(atMost);
    }

    /// Sends SIGKILL and waits until the process has ended.
    public void kill() {
        process.destroyForcibly();
        awaitEnd(STOP_LIMIT);
    }

    /// Waits until the process has ended.
    ///
    /// @return its exit status: 137 after SIGKILL
    /// @throws AssertionError if it has not ended in time
    public int awaitEnd(Duration atMost) {
        try {
            if (!process.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new AssertionError("the driver has not ended within " + atMost + ":\n" + tail());
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /// Returns its whole output.
    public String log() {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String tail() {
        List<String> lines = log().lines().toList();
        return lines.stream().findFirst().orElse("it said nothing") + "\n...\n"
                + String.join("\n", lines.subList(Math.max(0, lines.size() - 10), lines.size()));
    }

    @Override
    public void close() {
        try {
            if (process.isAlive()) {
                terminate(STOP_LIMIT);
            }
        } finally {
            process.destroyForcibly();
            Runtime.getRuntime().removeShutdownHook(endWithUs);
        }
    }
}
