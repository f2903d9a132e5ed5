package dev.siphon.e2e.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Runs a short command to its end.
public final class Command {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private Command() {}

    /// The output and exit status of a command.
    ///
    /// @param output stdout and stderr together
    public record Result(int exit, String output) {}

    /// Runs a command that must succeed.
    ///
    /// @return its output
    /// @throws IllegalStateException if it fails or takes longer than a minute
    public static String run(String... words) {
        return run(LIMIT, List.of(words));
    }

    /// Does the same as [#run(String...)] with another time limit.
    public static String run(Duration limit, List<String> words) {
        Result result = attempt(limit, words);
        if (result.exit() != 0) {
            throw new IllegalStateException(
                    String.join(" ", words) + " ended with " + result.exit() + ": " + result.output());
        }
        return result.output();
    }

    /// Runs a command that may fail.
    ///
    /// @throws IllegalStateException if it takes longer than a minute
    public static Result attempt(String... words) {
        return attempt(LIMIT, List.of(words));
    }

    /// Does the same as [#attempt(String...)] with another time limit.
    public static Result attempt(Duration limit, List<String> words) {
        try {
            Process process = new ProcessBuilder(words)
                    .redirectErrorStream(true)
                    .redirectInput(ProcessBuilder.Redirect.from(new java.io.File("/dev/null")))
                    .start();
            StringBuilder output = new StringBuilder();
            Thread reader = Thread.ofVirtual().start(() -> output.append(read(process)));
            if (!process.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IllegalStateException(String.join(" ", words) + " did not end in " + limit);
            }
            // a daemon that the command started may keep its stdout open
            reader.join(Duration.ofSeconds(1));
            return new Result(process.exitValue(), output.toString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(String.join(" ", words) + " was interrupted", e);
        }
    }

    private static String read(Process process) {
        try (var in = process.getInputStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "";
        }
    }
}
