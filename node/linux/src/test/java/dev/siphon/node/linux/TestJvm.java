package dev.siphon.node.linux;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Java processes beside the test's own. Tests can kill them. In a guest, processes run in parallel, but the
/// threads of one process share a processor (e2e/lab.d/guest).
public final class TestJvm {
    private static final long LIMIT_SECONDS = 30;

    private TestJvm() {}

    /// Returns a process that runs `main` on the test's class path.
    public static ProcessBuilder of(Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx128m",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command);
    }

    /// Sends SIGKILL, and waits until the process is gone.
    public static void kill(Process process) {
        try {
            if (!process.destroyForcibly().waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("process " + process.pid() + " did not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while a process ends", e);
        }
    }
}
