package dev.siphon.e2e.containers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/// Files of this host that containers are shown, each those that it needs. Their paths are the same in all of them.
final class SharedFolder implements AutoCloseable {
    private final Path folder;

    private SharedFolder(Path folder) {
        this.folder = folder;
    }

    static SharedFolder create() {
        try {
            return new SharedFolder(Files.createTempDirectory("siphon-containers-"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// A folder in it that belongs to `uid`, which is made.
    Path directory(String name, int uid) {
        try {
            Path made = Files.createDirectories(folder.resolve(name));
            Files.setAttribute(made, "unix:uid", uid);
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Writes a file that is no secret.
    static void write(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Removes it. Nothing may be mounted below it any more.
    @Override
    public void close() {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
