package dev.siphon.e2e.lab;

import java.nio.file.Files;
import java.nio.file.Path;

/// The checkout whose tests run.
public final class Project {
    private Project() {}

    /// Its top folder: the nearest above the current one that holds `e2e/lab`.
    public static Path folder() {
        Path start = Path.of("").toAbsolutePath();
        for (Path folder = start; folder != null; folder = folder.getParent()) {
            if (Files.isExecutable(folder.resolve("e2e/lab"))) {
                return folder;
            }
        }
        throw new IllegalStateException("no folder above " + start + " holds e2e/lab");
    }

    /// The folder of the installation that `make build` makes.
    public static Path installation() {
        return folder().resolve("deploy/target/siphon");
    }

    /// The launcher that `make build` makes.
    public static Path launcher() {
        Path launcher = installation().resolve("bin/siphon");
        if (!Files.isExecutable(launcher)) {
            throw new IllegalStateException("no launcher at " + launcher + "; run: make build");
        }
        return launcher;
    }
}
