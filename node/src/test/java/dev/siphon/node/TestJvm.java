package dev.siphon.node;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Java processes beside a test's own. They can be killed, and in a guest several processes run in parallel while the
/// threads of one process share a processor (e2e/lab.d/guest).
public final class TestJvm {
    private static final long LIMIT_SECONDS = 30;

    private TestJvm() {}

    /// A process that runs `main` with the classes of this test.
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

    /// SIGKILL, and waits until it is gone.
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
