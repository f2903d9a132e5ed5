package dev.siphon.node.linux;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Control groups below this process's own that limit memory (cgroups(7)). If a group exceeds its limit, the kernel
/// kills a process of that group, and no other. `memory.oom.group`, which a kubelet sets on the container's group,
/// takes effect only at that group's own limit.
///
/// In version 2 a group contains either processes or groups with limits. So this process and those beside it first
/// move to a group of their own.
public final class MemoryGroups {
    private static final Logger LOG = LoggerFactory.getLogger(MemoryGroups.class);
    private static final String OWN = "supervisor";

    /// The name prefix of groups created here; other groups are not ours.
    private static final String PREFIX = "siphon-";

    private static final String PROCESSES = "cgroup.procs";
    private static final String UNIFIED = "0::";

    private final Path parent;
    private final Version version;

    /// The two kernel interfaces: `Documentation/admin-guide/cgroup-v1/memory.rst` and `cgroup-v2.rst`.
    private enum Version {
        V1("memory.limit_in_bytes", "memory.oom_control"),
        V2("memory.max", "memory.events");

        private final String limit;
        private final String events;

        Version(String limit, String events) {
            this.limit = limit;
            this.events = events;
        }
    }

    private MemoryGroups(Path parent, Version version) {
        this.parent = parent;
        this.version = version;
    }

    /// Returns the groups below this process's own. Removes empty ones that an earlier process left.
    ///
    /// @throws UncheckedIOException with the reason, if none can be created here
    public static MemoryGroups ofThisProcess() {
        try {
            MemoryGroups groups = find(Files.readAllLines(Path.of("/proc/self/cgroup")), MountTable.read());
            groups.removeEmpty();
            return groups;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static MemoryGroups find(List<String> memberships, MountTable table) throws IOException {
        Optional<String> first = memberships.stream()
                .map(line -> line.split(":", 3))
                .filter(fields -> Arrays.asList(fields[1].split(",", -1)).contains("memory"))
                .map(fields -> fields[2])
                .findFirst();
        if (first.isPresent()) {
            return new MemoryGroups(
                    own(
                            table.entries().stream()
                                    .filter(each -> each.type().equals("cgroup")
                                            && each.superOptions().contains("memory")),
                            first.get()),
                    Version.V1);
        }
        String path = memberships.stream()
                .filter(line -> line.startsWith(UNIFIED))
                .map(line -> line.substring(UNIFIED.length()))
                .findFirst()
                .orElseThrow(() -> new IOException("this process is in no control group with memory"));
        Path own = own(table.entries().stream().filter(each -> each.type().equals("cgroup2")), path);
        Path parent = own.endsWith(OWN) ? own.resolveSibling(".").normalize() : own;
        leave(parent);
        return new MemoryGroups(parent, Version.V2);
    }

    /// Returns the directory of the group at `path`: the one in `mounts` that lists this process.
    private static Path own(Stream<MountEntry> mounts, String path) throws IOException {
        String pid = Long.toString(ProcessHandle.current().pid());
        for (MountEntry mount : mounts.toList()) {
            Path inside = mount.root().equals("/") || !path.startsWith(mount.root())
                    ? Path.of(path)
                    : Path.of("/").resolve(path.substring(mount.root().length()).replaceFirst("^/", ""));
            Path directory = Path.of(mount.mountPoint())
                    .resolve(Path.of("/").relativize(inside).toString());
            Path processes = directory.resolve(PROCESSES);
            if (Files.exists(processes) && Files.readAllLines(processes).contains(pid)) {
                return directory;
            }
        }
        throw new IOException("the control group " + path + " of this process is mounted nowhere");
    }

    /// Moves all processes out of `parent`, so that it can contain groups with limits.
    private static void leave(Path parent) throws IOException {
        Path own = Files.createDirectories(parent.resolve(OWN));
        for (String pid : Files.readAllLines(parent.resolve(PROCESSES))) {
            move(pid, own);
        }
        write(parent.resolve("cgroup.subtree_control"), "+memory");
    }

    private static void move(String pid, Path group) throws IOException {
        try {
            write(group.resolve(PROCESSES), pid);
        } catch (IOException e) {
            if (Files.exists(Path.of("/proc", pid))) {
                throw e;
            }
        }
    }

    private static void write(Path file, String text) throws IOException {
        Files.writeString(file, text, StandardOpenOption.WRITE);
    }

    /// Removes groups that an earlier process left, unless a process still runs in them.
    private void removeEmpty() throws IOException {
        try (DirectoryStream<Path> groups = Files.newDirectoryStream(parent, PREFIX + "*")) {
            for (Path path : groups) {
                if (Files.readAllLines(path.resolve(PROCESSES)).isEmpty()) {
                    new Group(path).remove();
                }
            }
        }
    }

    /// Creates a group with at most `limitBytes` of memory and no swap.
    ///
    /// @throws UncheckedIOException if it cannot be created
    public Group create(String name, long limitBytes) {
        try {
            Path path = Files.createDirectories(parent.resolve(PREFIX + name));
            String limit = Long.toString(limitBytes);
            write(path.resolve(version.limit), limit);
            switch (version) {
                case V1 -> writeIfThere(path.resolve("memory.memsw.limit_in_bytes"), limit);
                case V2 -> writeIfThere(path.resolve("memory.swap.max"), "0");
            }
            return new Group(path);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make a control group in " + parent, e);
        }
    }

    private static void writeIfThere(Path file, String text) throws IOException {
        if (Files.exists(file)) {
            write(file, text);
        }
    }

    public final class Group {
        private final Path path;

        private Group(Path path) {
            this.path = path;
        }

        /// Moves a process here; its present memory stays charged to its old group. Does nothing if the process has
        /// ended.
        ///
        /// @throws UncheckedIOException if the kernel rejects it
        public void add(long pid) {
            try {
                move(Long.toString(pid), path);
            } catch (IOException e) {
                throw new UncheckedIOException("cannot move process " + pid + " to " + path, e);
            }
        }

        /// Returns how many processes the kernel has killed here for lack of memory; 0 if that cannot be read.
        public long kills() {
            try (Stream<String> lines = Files.lines(path.resolve(version.events))) {
                return lines.filter(line -> line.startsWith("oom_kill "))
                        .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(' ') + 1)))
                        .sum();
            } catch (IOException | UncheckedIOException e) {
                LOG.atWarn().addKeyValue("group", path).setCause(e).log("cannot read why a process has ended");
                return 0;
            }
        }

        /// Removes the group. Logs a failure, such as when a process is still in it.
        public void remove() {
            try {
                Files.deleteIfExists(path);
            } catch (IOException e) {
                LOG.atWarn().addKeyValue("group", path).setCause(e).log("cannot remove a control group");
            }
        }
    }
}
