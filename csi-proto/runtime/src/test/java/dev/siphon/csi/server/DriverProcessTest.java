package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.GetPluginInfoRequest;
import csi.v1.IdentityGrpc;
import dev.siphon.csi.client.UnixSocketChannel;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DriverProcessTest {
    @TempDir
    private Path dir;

    @Test
    void endsInTheOrderOppositeToItsStart() {
        List<String> closed = new CopyOnWriteArrayList<>();
        DriverProcess process = start(Duration.ofSeconds(10));
        process.closeAtEnd("first", () -> closed.add("first"));
        process.closeAtEnd("second", () -> closed.add("second"));
        assertTrue(process.stop());
        assertEquals(List.of("second", "first"), closed);
        assertFalse(Files.exists(dir.resolve("s")));
    }

    @Test
    void whatSendsCallersHereIsClosedWhileTheyAreStillServed() {
        List<Boolean> served = new CopyOnWriteArrayList<>();
        DriverProcess process = start(Duration.ofSeconds(10));
        process.closeFirst("announcement", () -> served.add(Files.exists(dir.resolve("s"))));
        process.closeAtEnd("resource", () -> served.add(Files.exists(dir.resolve("s"))));
        assertTrue(process.stop());
        assertEquals(List.of(true, false), served);
    }

    @Test
    void aResourceThatCannotBeClosedKeepsNoOtherOpen() {
        List<String> closed = new CopyOnWriteArrayList<>();
        DriverProcess process = start(Duration.ofSeconds(10));
        process.closeAtEnd("first", () -> closed.add("first"));
        process.closeAtEnd("broken", () -> {
            throw new IOException("broken");
        });
        assertFalse(process.stop());
        assertEquals(List.of("first"), closed);
    }

    @Test
    void aResourceThatHangsDoesNotHoldTheEndUp() {
        CountDownLatch never = new CountDownLatch(1);
        DriverProcess process = start(Duration.ofMillis(500));
        process.closeAtEnd("hangs", never::await);
        assertFalse(process.stop());
        assertFalse(Files.exists(dir.resolve("s")));
        never.countDown();
    }

    @Test
    void aSecondStopFindsWhatTheFirstDid() {
        DriverProcess process = start(Duration.ofSeconds(10));
        assertTrue(process.stop());
        assertTrue(process.stop());
    }

    @Test
    void nothingIsLeftWhereTheHttpPortIsTaken() {
        DriverProcess process = start(Duration.ofSeconds(10));
        ServerConfig second = new ServerConfig(
                DriverName.DEFAULT,
                new UnixEndpoint(dir.resolve("t")),
                new OpsAddress("127.0.0.1", process.opsAddress().getPort()),
                Duration.ofSeconds(1),
                Duration.ofSeconds(1),
                Duration.ofSeconds(2));
        assertThrows(StartFailure.class, () -> DriverProcess.start(second, parts()));
        assertFalse(Files.exists(dir.resolve("t")));
        assertTrue(process.stop());
    }

    @Test
    void sigtermEndsTheProcessWithZero() throws Exception {
        assertEquals(0, exitAfterSigterm("tidy"));
        assertFalse(Files.exists(dir.resolve("s")));
    }

    @Test
    void sigtermEndsTheProcessEvenIfAResourceHangs() throws Exception {
        assertEquals(1, exitAfterSigterm("hangs"));
    }

    /// Runs the process that gets the signal. It serves at its first argument; with `hangs`
    /// as the second, closing one of its resources hangs.
    public static void main(String[] args) throws InterruptedException {
        JsonLogging.start(org.slf4j.event.Level.INFO);
        ServerConfig config = config(Path.of(args[0]), Duration.ofSeconds(2));
        DriverProcess process = DriverProcess.start(config, parts());
        if (args[1].equals("hangs")) {
            process.closeAtEnd("hangs", new CountDownLatch(1)::await);
        }
        process.await(config);
    }

    private int exitAfterSigterm(String kind) throws IOException, InterruptedException {
        Path socket = dir.resolve("s");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        DriverProcessTest.class.getName(),
                        socket.toString(),
                        kind)
                .redirectErrorStream(true)
                .redirectOutput(Redirect.to(dir.resolve("out").toFile()))
                .start();
        try {
            // the process handles signals once it has logged that it started
            Eventually.is(() -> output().contains("\"started\"") || !process.isAlive());
            try (UnixSocketChannel channel = UnixSocketChannel.open(new UnixEndpoint(socket))) {
                assertEquals(
                        "cephfs.siphon.dev",
                        IdentityGrpc.newBlockingStub(channel.channel())
                                .getPluginInfo(GetPluginInfoRequest.getDefaultInstance())
                                .getName());
            }
            process.destroy();
            assertTrue(process.waitFor(60, TimeUnit.SECONDS), () -> "still there: " + output());
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }

    private String output() {
        try {
            return Files.readString(dir.resolve("out"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private DriverProcess start(Duration shutdown) {
        return DriverProcess.start(config(dir.resolve("s"), shutdown), parts());
    }

    private static ServerConfig config(Path socket, Duration shutdown) {
        return new ServerConfig(
                DriverName.DEFAULT,
                new UnixEndpoint(socket),
                new OpsAddress("127.0.0.1", 0),
                Duration.ofSeconds(1),
                shutdown.dividedBy(2),
                shutdown);
    }

    private static DriverProcess.Parts parts() {
        return new DriverProcess.Parts(List.of(), List.of(), Optional::empty, new PrometheusRegistry());
    }
}
