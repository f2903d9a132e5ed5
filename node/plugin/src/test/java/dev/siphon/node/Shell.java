package dev.siphon.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Runs scripts as a given user in a directory, as in a container.
final class Shell {
    private static final long LIMIT_SECONDS = 60;

    private Shell() {}

    /// The result of a script.
    ///
    /// @param said stdout and stderr combined, trimmed
    record Result(int exit, String said) {}

    /// Runs `script` with `directory` as `$1` and with these ids. Only root keeps its capabilities.
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
