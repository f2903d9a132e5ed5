package dev.siphon.node.fuse;

import dev.siphon.node.linux.ChildProcess;
import dev.siphon.node.linux.MountEntry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;

/// The programs that serve FUSE mounts, one process per mount. Each mount has a unique tag, which appears in the
/// mount table and in the process's arguments.
public enum FuseProgram {
    /// Its tag is the mount's source.
    CEPH_FUSE("ceph-fuse", "fsname=") {
        @Override
        boolean serves(MountEntry mount, String tag) {
            return mount.source().equals(tag);
        }
    },
    /// Its tag is the mount's subtype, because the source is a loop device.
    EROFSFUSE("erofsfuse", "subtype=") {
        @Override
        boolean serves(MountEntry mount, String tag) {
            return mount.type().endsWith("." + tag);
        }
    };

    private final String command;
    private final String option;

    FuseProgram(String command, String option) {
        this.command = command;
        this.option = option;
    }

    /// Returns its name on the `PATH`.
    public String command() {
        return command;
    }

    /// Whether it is on the `PATH`.
    public boolean isInstalled() {
        return ChildProcess.isInstalled(command);
    }

    /// Returns the mount option with the tag.
    public String option(String tag) {
        return option + tag;
    }

    /// Whether `mount` has the tag.
    abstract boolean serves(MountEntry mount, String tag);

    /// Finds the process of the mount with the tag among those of this mount namespace, whoever started it; empty if
    /// it has ended. `siphon fuse` sees all processes of its node, and a pod's process might look the same.
    public Optional<ProcessHandle> process(String tag) {
        Path ours = mountNamespace("self").orElseThrow();
        return ProcessHandle.allProcesses()
                // first, because reading the arguments of a process that hangs may hang
                .filter(process -> mountNamespace(Long.toString(process.pid()))
                        .filter(ours::equals)
                        .isPresent())
                .filter(process -> isThis(process.info()))
                .filter(process -> process.info()
                        .arguments()
                        .filter(arguments -> Arrays.stream(arguments).anyMatch(each -> hasOption(each, tag)))
                        .isPresent())
                .findFirst();
    }

    private static Optional<Path> mountNamespace(String pid) {
        try {
            return Optional.of(Files.readSymbolicLink(Path.of("/proc", pid, "ns", "mnt")));
        } catch (IOException _) {
            // it has ended, or has more rights than this process, which no process that it started has
            return Optional.empty();
        }
    }

    private boolean isThis(ProcessHandle.Info info) {
        return info.command()
                .map(Path::of)
                .filter(path -> path.endsWith(command))
                .isPresent();
    }

    private boolean hasOption(String argument, String tag) {
        return Arrays.asList(argument.split(",", -1)).contains(option(tag));
    }
}
