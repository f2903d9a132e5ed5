package dev.siphon.node.linux;

import java.util.Set;

/// A line of the mount table (proc(5), `/proc/pid/mountinfo`), with escapes resolved.
///
/// @param id the mount's number, unique while it is mounted
/// @param parent the number of the mount that it is mounted on
/// @param device `major:minor` of the superblock; all binds of one file system share it
/// @param root the directory of the file system that the mount shows; for a bind not always `/`
/// @param mountPoint where it is mounted, absolute and without symbolic links
/// @param options enforced at this mount point (`ro`, `nosuid`, ...)
/// @param type the file system's type
/// @param source what is mounted, in a form that the file system chooses
/// @param superOptions the options of the file system itself, shared by all its binds
public record MountEntry(
        long id,
        long parent,
        String device,
        String root,
        String mountPoint,
        Set<String> options,
        String type,
        String source,
        Set<String> superOptions) {
    public MountEntry {
        options = Set.copyOf(options);
        superOptions = Set.copyOf(superOptions);
    }

    /// The flags that this mount point enforces.
    public Set<MountFlag> flags() {
        return MountFlag.among(options);
    }

    /// Whether this mount shows other owners than the file system has (Linux 5.12, `show_mnt_opts`).
    public boolean isIdmapped() {
        return options.contains("idmapped");
    }

    public boolean isReadOnly() {
        return options.contains(MountFlag.READ_ONLY.option());
    }
}
