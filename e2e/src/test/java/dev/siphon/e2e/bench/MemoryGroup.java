package dev.siphon.e2e.bench;

import dev.siphon.e2e.lab.Lab;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/// A control group that limits the memory of processes: at the limit the kernel kills one of them. The lab's end
/// removes it.
final class MemoryGroup {
    private static final Path ALL = Path.of("/sys/fs/cgroup");

    private final Path folder;

    private MemoryGroup(Path folder) {
        this.folder = folder;
    }

    /// Creates a group in a lab whose control groups are mounted.
    static MemoryGroup limit(String name, long bytes) {
        boolean isUnified = Files.exists(ALL.resolve("cgroup.controllers"));
        Path parent = ALL.resolve(isUnified ? "" : "memory")
                .resolve("siphon-lab-" + Lab.here().run().getFileName());
        try {
            Files.createDirectories(parent);
            if (isUnified) {
                Files.writeString(ALL.resolve("cgroup.subtree_control"), "+memory");
                Files.writeString(parent.resolve("cgroup.subtree_control"), "+memory");
            }
            Path folder = Files.createDirectories(parent.resolve(name));
            Files.writeString(folder.resolve(isUnified ? "memory.max" : "memory.limit_in_bytes"), Long.toString(bytes));
            return new MemoryGroup(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns a command line that runs `command` in the group, in the process that it is started as.
    List<String> of(List<String> command) {
        return Stream.concat(
                        Stream.of(
                                "sh",
                                "-c",
                                "echo $$ >\"$0\" && exec \"$@\"",
                                folder.resolve("cgroup.procs").toString()),
                        command.stream())
                .toList();
    }
}
