package dev.siphon.node.linux;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/// Starts a program that may outlive this process: from an argument list, without a shell, with only `PATH` in its
/// environment. It runs in its own session (setsid(1)), so signals to this process's group do not reach it. A
/// program that does not serve by the deadline is killed with its descendants.
///
/// Its output goes to a file in memory. A pipe would break when this process ends, and fill up if nobody reads it.
/// If the program closed its standard descriptors instead, files that it opens later would get their numbers and
/// its output.
public final class ChildProcess {
    /// The output is only for an error message; the rest is dropped.
    private static final int MAX_OUTPUT_BYTES = 8 << 10;

    private static final Duration POLL = Duration.ofMillis(10);
    private static final Duration AFTER_KILL = Duration.ofSeconds(2);

    private ChildProcess() {}

    /// The outcome of a start.
    ///
    /// @param inTime whether the program served, or exited by itself, before the deadline
    /// @param output the beginning of its stdout and stderr
    public record StartOutcome(boolean inTime, boolean serving, String output) {}

    /// Starts `command` and blocks until it serves or `limit` ends. Later output is discarded.
    ///
    /// @param serves polled every 10 ms; if it throws, the program is killed and the exception is rethrown
    /// @throws UncheckedIOException if the program cannot be started
    public static StartOutcome start(List<String> command, Duration limit, BooleanSupplier serves) {
        return start(command, limit, serves, _ -> {});
    }

    /// Same as [#start(List, Duration, BooleanSupplier)], but passes the process on before waiting for it.
    ///
    /// @param started receives the process
    public static StartOutcome start(
            List<String> command, Duration limit, BooleanSupplier serves, Consumer<Process> started) {
        List<String> words = new ArrayList<>(List.of("setsid"));
        words.addAll(command);
        try (MemoryFile said = MemoryFile.of("output", new byte[0])) {
            ProcessBuilder builder = new ProcessBuilder(words)
                    .redirectErrorStream(true)
                    .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                    .redirectOutput(ProcessBuilder.Redirect.to(new File(said.path())));
            builder.environment().keySet().removeIf(name -> !name.equals("PATH"));
            Process process = builder.start();
            started.accept(process);
            boolean serving = awaitServing(process, limit, serves);
            boolean inTime = serving || !process.isAlive();
            if (!inTime) {
                end(process);
            }
            said.seal();
            return new StartOutcome(
                    inTime, serving, new String(said.beginning(MAX_OUTPUT_BYTES), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Whether `program` is on the `PATH`.
    public static boolean isInstalled(String program) {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
        return Arrays.stream(path.split(File.pathSeparator, -1))
                .filter(directory -> directory.startsWith("/"))
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, program)));
    }

    private static boolean awaitServing(Process process, Duration limit, BooleanSupplier serves) {
        long end = System.nanoTime() + limit.toNanos();
        try {
            while (System.nanoTime() < end && !process.waitFor(POLL.toMillis(), TimeUnit.MILLISECONDS)) {
                if (serves.getAsBoolean()) {
                    return true;
                }
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            end(process);
            throw e;
        }
        return false;
    }

    private static void end(Process process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        try {
            boolean _ = process.waitFor(AFTER_KILL.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
