package dev.siphon.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// What a process of some user does in a directory, as in a container.
final class Shell {
    private static final long LIMIT_SECONDS = 60;

    private Shell() {}

    /// How a script ended.
    ///
    /// @param said stdout and stderr together, without blanks around
    record Result(int exit, String said) {}

    /// Runs `script`, whose `$1` is `directory`, with these numbers. Who is not root has no capabilities.
    static Result run(int uid, int gid, Path directory, String script) {
        List<String> command = List.of(
                "setpriv",
                "--reuid=" + uid,
                "--regid=" + gid,
                "--clear-groups",
                "sh",
                "-c",
                script,
                "sh",
                directory.toString());
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            process.getOutputStream().close();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IllegalStateException(script + " did not end");
            }
            return new Result(process.exitValue(), said.strip());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
