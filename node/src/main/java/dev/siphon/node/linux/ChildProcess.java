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

/// Starts a program that serves for longer than this process may live: argument list, no shell, an environment of
/// nothing but `PATH`, a session of its own by setsid(1), so that no signal to this process's group reaches it.
/// Ended with all that it started if it does not serve at the deadline.
///
/// What it says goes to a file in memory. A pipe would end with this process, and fill if nobody reads it; and
/// where the program closes its standard descriptors instead, later files of it get their numbers, and what it
/// says goes into those.
public final class ChildProcess {
    /// What a program says is for a message; more than this is not kept.
    private static final int MAX_OUTPUT_BYTES = 8 << 10;

    private static final Duration POLL = Duration.ofMillis(10);
    private static final Duration AFTER_KILL = Duration.ofSeconds(2);

    private ChildProcess() {}

    /// How a start ended.
    ///
    /// @param inTime whether the program served, or ended by itself, before the deadline
    /// @param output the beginning of what it said on stdout and stderr
    public record StartOutcome(boolean inTime, boolean serving, String output) {}

    /// Starts `command`, on a thread that may block. Once it serves, it may say what it wants: nobody listens.
    ///
    /// @param serves is asked again and again; where it throws, the program is ended and that is thrown
    /// @throws UncheckedIOException if no program can be started
    public static StartOutcome start(List<String> command, Duration limit, BooleanSupplier serves) {
        return start(command, limit, serves, _ -> {});
    }

    /// The same, with a look at the process at once.
    ///
    /// @param started what to do with it before it is waited for
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
