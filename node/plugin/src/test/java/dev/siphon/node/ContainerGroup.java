package dev.siphon.node;

import dev.siphon.node.linux.Programs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/// A control group like the kubelet's for a container without a memory limit: in version 2 with `memory.oom.group`.
/// It is removed with the lab at the latest.
final class ContainerGroup implements AutoCloseable {
    private static final Path ALL = Path.of("/sys/fs/cgroup");

    private final Path path;

    private ContainerGroup(Path path) {
        this.path = path;
    }

    static ContainerGroup create() {
        Programs.run(Path.of("..", "..", "e2e", "lab.d", "cgroups").toString(), "mount");
        String lab = "siphon-lab-" + Objects.requireNonNull(System.getenv("LAB_NAME"), "LAB_NAME");
        try {
            if (Files.isDirectory(ALL.resolve("memory"))) {
                return new ContainerGroup(Files.createDirectories(
                        ALL.resolve("memory").resolve(lab).resolve(Lab.uniqueName("fuse"))));
            }
            Path parent = Files.createDirectories(ALL.resolve(lab));
            for (Path each : List.of(ALL, parent)) {
                write(each.resolve("cgroup.subtree_control"), "+memory");
            }
            Path path = Files.createDirectory(parent.resolve(Lab.uniqueName("fuse")));
            write(path.resolve("memory.oom.group"), "1");
            return new ContainerGroup(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void write(Path file, String text) throws IOException {
        Files.writeString(file, text, StandardOpenOption.WRITE);
    }

    Path path() {
        return path;
    }

    /// Returns the names of the child groups.
    List<String> groups() {
        try (Stream<Path> paths = Files.list(path)) {
            return paths.filter(Files::isDirectory)
                    .map(each -> each.getFileName().toString())
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Removes the group, which must have no processes.
    @Override
    public void close() {
        groups().forEach(name -> remove(path.resolve(name)));
        remove(path);
    }

    private static void remove(Path group) {
        OpsPages.await(() -> {
            try {
                return Files.readString(group.resolve("cgroup.procs")).isEmpty();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        try {
            Files.delete(group);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
