package dev.siphon.e2e.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/// A program that `lab.d/daemon` runs in the lab. It outlives this process.
///
/// @param name its unique name in the lab
public record LabDaemon(String name) {
    /// Defines a daemon that runs a main class of these tests.
    public static LabDaemon ofClass(String name, Class<?> main, List<String> arguments) {
        Path target = Project.folder().resolve("e2e/target");
        String java = Objects.requireNonNull(System.getProperty("java.home")) + "/bin/java";
        List<String> words = new ArrayList<>(List.of(
                java,
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx32m",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                target.resolve("test-classes") + ":" + read(target.resolve("classpath")),
                main.getName()));
        words.addAll(arguments);
        return of(name, words);
    }

    /// Defines a daemon that runs this command line.
    public static LabDaemon of(String name, List<String> words) {
        String command = words.stream().map(LabDaemon::quoted).collect(Collectors.joining(" "));
        Path file = Lab.here().run().resolve("daemon").resolve(name);
        try {
            Files.writeString(file, "#!/bin/sh\nexec " + command + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (!file.toFile().setExecutable(true)) {
            throw new IllegalStateException(file + " cannot be made executable");
        }
        return new LabDaemon(name);
    }

    private static String quoted(String word) {
        return "'" + word.replace("'", "'\\''") + "'";
    }

    private static String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Starts the daemon; it must not be running.
    public LabDaemon start() {
        Command.run(program(), "start", name);
        return this;
    }

    /// Terminates the daemon (SIGTERM) and waits until it has ended.
    public void terminate() {
        Command.run(program(), "sig", "TERM", name);
    }

    /// Kills the daemon (SIGKILL) and waits until it has ended.
    public void kill() {
        Command.run(program(), "sig", "KILL", name);
    }

    /// Returns whether the daemon is running.
    public boolean runs() {
        return Command.run(program(), "list").lines().anyMatch(line -> line.startsWith(name + " pid "));
    }

    /// Returns its whole output since the lab started.
    public String log() {
        return read(Lab.here().run().resolve("log").resolve(name + ".out"));
    }

    private static String program() {
        return Project.folder().resolve("e2e/lab.d/daemon").toString();
    }
}
