package dev.siphon.node.linux;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/// A directory for mounts, where a CO would keep its staging and target paths. Closing it unmounts everything below
/// it.
public final class Workplace implements AutoCloseable {
    private final Path root;

    private Workplace(Path root) {
        this.root = root;
    }

    public static Workplace create() {
        try {
            return new Workplace(
                    Files.createTempDirectory(Path.of("/tmp"), "siphon-it-").toRealPath());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Path path(String name) {
        return root.resolve(name);
    }

    /// Creates a directory, as the CO creates staging paths.
    public Path directory(String name) {
        try {
            return Files.createDirectories(root.resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns the mount points here, deepest first.
    public List<String> mounts() {
        return MountTable.read().entries().reversed().stream()
                .map(entry -> entry.mountPoint())
                .filter(point -> point.startsWith(root + "/"))
                .toList();
    }

    @Override
    public void close() {
        mounts().forEach(point -> Programs.run("umount", "--lazy", point));
        try (Stream<Path> all = Files.walk(root)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
