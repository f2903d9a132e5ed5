package dev.siphon.node.ceph;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Runs a program that answers by its exit code: argument list, no shell, an environment of nothing but `PATH`,
/// output drained, ended at the deadline with all that it started.
final class ChildProcess {
    /// What a program says is for a message; more than this is not kept.
    private static final int MAX_OUTPUT_BYTES = 8 << 10;

    private static final Duration AFTER_KILL = Duration.ofSeconds(2);

    private ChildProcess() {}

    /// How a program ended.
    ///
    /// @param code its exit code; meaningless if it was ended at the deadline
    /// @param output the beginning of what it said on stdout and stderr
    record Outcome(boolean inTime, int code, String output) {
        boolean succeeded() {
            return inTime && code == 0;
        }
    }

    /// Runs `command`, on a thread that may block.
    ///
    /// @throws UncheckedIOException if there is no such program
    static Outcome run(List<String> command, Duration limit) {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.redirectInput(ProcessBuilder.Redirect.from(new java.io.File("/dev/null")));
        builder.environment().keySet().removeIf(name -> !name.equals("PATH"));
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        CompletableFuture<String> output = new CompletableFuture<>();
        Thread.ofVirtual().name("child-output").start(() -> output.complete(drain(process.getInputStream())));
        boolean inTime = false;
        try {
            inTime = process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        if (!inTime) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        return new Outcome(inTime, inTime ? process.exitValue() : -1, said(output));
    }

    private static String said(CompletableFuture<String> output) {
        try {
            return output.get(AFTER_KILL.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return "";
        } catch (TimeoutException | java.util.concurrent.ExecutionException _) {
            // a daemon that keeps its stdout open: what it says is still drained
            return "";
        }
    }

    private static String drain(InputStream in) {
        try (in) {
            byte[] first = in.readNBytes(MAX_OUTPUT_BYTES);
            in.transferTo(java.io.OutputStream.nullOutputStream());
            return new String(first, StandardCharsets.UTF_8);
        } catch (IOException _) {
            return ""; // the process was ended meanwhile
        }
    }
}
