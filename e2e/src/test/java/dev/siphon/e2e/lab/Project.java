package dev.siphon.e2e.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/// The checkout whose tests run.
public final class Project {
    private static final String CLASSPATH = "classpath=";

    private Project() {}

    /// Returns its top folder: the nearest folder, from the current one upwards, that holds `e2e/lab`.
    public static Path folder() {
        Path start = Path.of("").toAbsolutePath();
        for (Path folder = start; folder != null; folder = folder.getParent()) {
            if (Files.isExecutable(folder.resolve("e2e/lab"))) {
                return folder;
            }
        }
        throw new IllegalStateException("no folder above " + start + " holds e2e/lab");
    }

    /// Returns the installation that `make build` creates.
    public static Path installation() {
        return folder().resolve("deploy/target/siphon");
    }

    /// Returns the launcher that `make build` creates.
    public static Path launcher() {
        Path launcher = installation().resolve("bin/siphon");
        if (!Files.isExecutable(launcher)) {
            throw new IllegalStateException("no launcher at " + launcher + "; run: make build");
        }
        return launcher;
    }

    /// Returns a folder of programs that `e2e/lab.d` has built or unpacked, such as `kubernetes`.
    public static Path programs(String folder) {
        return Path.of(Objects.requireNonNull(System.getenv("SIPHON_LAB_DIR"), "runs in a lab only"), folder);
    }

    /// Returns the jars of a process, as the launcher reads them.
    ///
    /// @param process `controller` or `node`
    public static String classPath(String process) {
        Path home = installation();
        try {
            return Files.readAllLines(home.resolve("lib/" + process + ".classpath")).stream()
                    .filter(line -> line.startsWith(CLASSPATH))
                    .map(line -> line.substring(CLASSPATH.length()).replace("$home", home.toString()))
                    .findFirst()
                    .orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
