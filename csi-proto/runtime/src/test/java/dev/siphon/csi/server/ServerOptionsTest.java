package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

final class ServerOptionsTest {
    @Command(name = "x")
    private static final class Daemon {
        @Mixin
        private final ServerOptions options = new ServerOptions();
    }

    @Test
    void theDefaultsAreThese() {
        Daemon process = parse();
        ServerConfig config = config(process);
        assertEquals(DriverName.DEFAULT, config.driverName());
        assertEquals(Path.of("/csi/csi.sock"), config.endpoint().path());
        assertEquals(new OpsAddress("127.0.0.1", 0), config.ops());
        assertEquals(Duration.ofSeconds(60), config.callTime());
        assertEquals(Duration.ofSeconds(15), config.drain());
        assertEquals(Duration.ofSeconds(25), config.shutdown());
        assertEquals(Level.INFO, process.options.logLevel());
    }

    @Test
    void everyFlagHasItsPlace() {
        Daemon process = parse(
                "--driver-name=x.example",
                "--endpoint=unix:///run/x.sock",
                "--ops-host=::1",
                "--ops-port=9",
                "--rpc-timeout=1",
                "--drain-timeout=2",
                "--shutdown-timeout=3",
                "--log-level=DEBUG");
        ServerConfig config = config(process);
        assertEquals("x.example", config.driverName().value());
        assertEquals(Path.of("/run/x.sock"), config.endpoint().path());
        assertEquals("[::1]:9", config.ops().toString());
        assertEquals(new Deadlines(Duration.ofSeconds(1)), config.deadlines());
        assertEquals(Duration.ofSeconds(2), config.drain());
        assertEquals(Duration.ofSeconds(3), config.shutdown());
        assertEquals(Level.DEBUG, process.options.logLevel());
    }

    @Test
    void everyProblemIsToldAtOnce() {
        Daemon process = parse(
                "--driver-name=a_b",
                "--endpoint=tcp://x",
                "--ops-port=70000",
                "--rpc-timeout=0",
                "--drain-timeout=9",
                "--shutdown-timeout=9");
        ConfigProblems problems = new ConfigProblems();
        ConfigProblems.ParsedValue<ServerConfig> read = process.options.read(problems);
        String message = String.valueOf(assertThrows(
                        CommandLine.ParameterException.class,
                        () -> problems.orFail(new CommandLine(process).getCommandSpec(), read::get))
                .getMessage());
        assertEquals(5, message.lines().count(), message);
        for (String flag : new String[] {
            "--driver-name: ", "--endpoint: ", "--ops-port: ", "--rpc-timeout: ", "--shutdown-timeout: "
        }) {
            assertTrue(message.contains(flag), message);
        }
    }

    private static Daemon parse(String... args) {
        Daemon process = new Daemon();
        new CommandLine(process).parseArgs(args);
        return process;
    }

    private static ServerConfig config(Daemon process) {
        ConfigProblems problems = new ConfigProblems();
        ConfigProblems.ParsedValue<ServerConfig> read = process.options.read(problems);
        return problems.orFail(new CommandLine(process).getCommandSpec(), read::get);
    }
}
