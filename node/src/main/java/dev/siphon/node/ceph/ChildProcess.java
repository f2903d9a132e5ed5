package dev.siphon.node.ceph;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

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
        Output output = new Output();
        Thread reader = Thread.ofVirtual().name("child-output").start(() -> output.drain(process.getInputStream()));
        boolean inTime = false;
        try {
            inTime = process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        if (!inTime) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            // by its handle: Process.destroyForcibly() closes stdout too, and what was said last would be lost
            process.toHandle().destroyForcibly();
        }
        try {
            // a daemon may keep its stdout open: what it says after this is still drained
            reader.join(AFTER_KILL);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        return new Outcome(inTime, inTime ? process.exitValue() : -1, output.said());
    }

    /// The first bytes of what a program says.
    private static final class Output {
        private final ByteArrayOutputStream kept = new ByteArrayOutputStream();

        void drain(InputStream in) {
            byte[] part = new byte[MAX_OUTPUT_BYTES];
            try (in) {
                for (int count = in.read(part); count >= 0; count = in.read(part)) {
                    keep(part, count);
                }
            } catch (IOException _) {
                // the program was ended meanwhile
            }
        }

        private synchronized void keep(byte[] part, int count) {
            kept.write(part, 0, Math.min(count, MAX_OUTPUT_BYTES - kept.size()));
        }

        synchronized String said() {
            return kept.toString(StandardCharsets.UTF_8);
        }
    }
}
