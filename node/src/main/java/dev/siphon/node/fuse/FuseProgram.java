package dev.siphon.node.fuse;

import dev.siphon.node.linux.ChildProcess;
import dev.siphon.node.linux.MountEntry;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;

/// The programs that serve FUSE mounts, a process for each mount. A mount has a tag that no other has; it
/// is in the mount table, and in the process's arguments.
public enum FuseProgram {
    /// Its tag is the mount's source.
    CEPH_FUSE("ceph-fuse", "fsname=") {
        @Override
        boolean serves(MountEntry mount, String tag) {
            return mount.source().equals(tag);
        }
    },
    /// Its tag is the mount's subtype: the source is a loop device.
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

    /// What it is called on the `PATH`.
    public String command() {
        return command;
    }

    /// Whether it is on the `PATH`.
    public boolean isInstalled() {
        return ChildProcess.isInstalled(command);
    }

    /// The mount option that holds the tag.
    public String option(String tag) {
        return option + tag;
    }

    /// Whether `mount` is the one of `tag`.
    abstract boolean serves(MountEntry mount, String tag);

    /// The process of the mount of `tag`, whoever started it; empty if it has ended.
    public Optional<ProcessHandle> process(String tag) {
        return ProcessHandle.allProcesses()
                .filter(process -> isThis(process.info()))
                .filter(process -> process.info()
                        .arguments()
                        .filter(arguments -> Arrays.stream(arguments).anyMatch(each -> hasOption(each, tag)))
                        .isPresent())
                .findFirst();
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
