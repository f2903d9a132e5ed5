package dev.siphon.e2e.containers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.stream.Stream;

/// The containers of a suite and the files of this host that they share. Each container sees only the files that it
/// needs, all under the same paths. Closing stops everything that was started, also after a failed start.
final class Containers implements AutoCloseable {
    private final Path folder;
    private final Deque<Runnable> undo = new ArrayDeque<>();

    private Containers(Path folder) {
        this.folder = folder;
    }

    static Containers create() {
        try {
            return new Containers(Files.createTempDirectory("siphon-containers-"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Starts a container and waits as it demands.
    EngineContainer start(EngineContainer container) {
        undo.push(container::close);
        container.start();
        return container;
    }

    /// Registers an action for the end. It runs before anything started earlier stops.
    void atEnd(Runnable action) {
        undo.push(action);
    }

    /// Creates a folder owned by `uid`.
    Path directory(String name, int uid) {
        try {
            Path made = Files.createDirectories(folder.resolve(name));
            Files.setAttribute(made, "unix:uid", uid);
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Writes a file that holds no secret.
    static void write(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Stops all containers, the last first, and removes the files. Nothing may be mounted below them by then.
    @Override
    public void close() {
        while (!undo.isEmpty()) {
            undo.pop().run();
        }
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
