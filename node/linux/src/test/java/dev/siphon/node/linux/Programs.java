package dev.siphon.node.linux;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Runs programs that tests need.
public final class Programs {
    private static final long LIMIT_SECONDS = 60;

    private Programs() {}

    /// Returns what `command` prints on stdout.
    ///
    /// @throws IllegalStateException if it fails
    public static String run(String... command) {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IllegalStateException(List.of(command) + " did not end");
            }
            if (process.exitValue() != 0) {
                throw new IllegalStateException(List.of(command) + " ended with " + process.exitValue());
            }
            return output.strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
