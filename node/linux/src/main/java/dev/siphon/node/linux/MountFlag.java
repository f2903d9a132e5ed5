package dev.siphon.node.linux;

import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/// A flag that the kernel enforces at a single mount point, whatever the file system is.
public enum MountFlag {
    READ_ONLY("ro", 0x1, 0x1),
    NO_SUID("nosuid", 0x2, 0x2),
    NO_DEV("nodev", 0x4, 0x4),
    NO_EXEC("noexec", 0x8, 0x8),
    NO_ATIME("noatime", 0x10, 0x400),
    NO_DIR_ATIME("nodiratime", 0x80, 0x800);

    /// `MOUNT_ATTR__ATIME`: the bits for the handling of access times; zero means `relatime`.
    static final long ATIME_MASK = 0x70;

    private final String option;
    private final long attribute;
    private final long legacy;

    MountFlag(String option, long attribute, long legacy) {
        this.option = option;
        this.attribute = attribute;
        this.legacy = legacy;
    }

    /// Returns its name as a mount option and in the mount table.
    public String option() {
        return option;
    }

    /// Returns the flag of that name; empty if there is none.
    public static Optional<MountFlag> named(String option) {
        return Arrays.stream(values())
                .filter(flag -> flag.option.equals(option))
                .findFirst();
    }

    /// Returns the flags named in `options`.
    public static Set<MountFlag> among(Collection<String> options) {
        EnumSet<MountFlag> flags = EnumSet.noneOf(MountFlag.class);
        options.forEach(option -> named(option).ifPresent(flags::add));
        return flags;
    }

    /// `MOUNT_ATTR_*` of `linux/mount.h`.
    static long attributes(Collection<MountFlag> flags) {
        return flags.stream().mapToLong(flag -> flag.attribute).reduce(0, (a, b) -> a | b);
    }

    /// `MS_*` of `linux/mount.h`.
    static long legacy(Collection<MountFlag> flags) {
        return flags.stream().mapToLong(flag -> flag.legacy).reduce(0, (a, b) -> a | b);
    }
}
