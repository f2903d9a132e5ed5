package dev.siphon.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import jnr.constants.platform.Errno;

/// mount(2), umount2(2) and related calls. Each may hang with the file system.
public final class MountSyscalls {
    private static final long UMOUNT_NOFOLLOW = 8;
    private static final long FSOPEN_CLOEXEC = 1;
    private static final long FSCONFIG_SET_STRING = 1;
    private static final long MS_SYNCHRONOUS = 0x10;
    private static final long MS_DIRSYNC = 0x80;
    /// `struct statfs` of 64-bit Linux; its offsets below are in units of 8 bytes.
    private static final int STATFS_LONGS = 15;

    private static final int F_BSIZE = 1;
    private static final int F_BLOCKS = 2;
    private static final int F_BFREE = 3;
    private static final int F_BAVAIL = 4;
    private static final int F_FRSIZE = 9;

    private MountSyscalls() {}

    /// How to unmount a mount that is busy or does not respond (umount2(2)).
    public enum Unmount {
        /// Fails requests that wait for the server. Loses what a kernel client has not written yet.
        FORCE(1),
        /// Detaches the mount from the tree now, and ends it with its last user.
        DETACH(2);

        private final long flag;

        Unmount(long flag) {
            this.flag = flag;
        }
    }

    /// Whether the kernel supports the file system `type`, loading its module if necessary. Opens a context of that
    /// type and mounts nothing.
    public static boolean kernelHas(String type) {
        try (Descriptor _ = context(type)) {
            return true;
        } catch (ErrnoException e) {
            if (e.is(Errno.ENODEV)) {
                return false;
            }
            throw e;
        }
    }

    /// Whether the kernel takes `value` for the option `name` of the file system `type`. Sets it in a context that is
    /// then dropped: mounts nothing and contacts nobody.
    public static boolean takesOption(String type, String name, String value) {
        try (Arena arena = Arena.ofConfined();
                Descriptor context = context(type)) {
            Syscalls.FSCONFIG.call(
                    context.number(), FSCONFIG_SET_STRING, Syscalls.text(arena, name), Syscalls.text(arena, value), 0);
            return true;
        } catch (ErrnoException _) {
            return false; // each file system has numbers of its own, some of which no program should see (ENOTSUPP)
        }
    }

    private static Descriptor context(String type) {
        try (Arena arena = Arena.ofConfined()) {
            return new Descriptor(Syscalls.FSOPEN.call(Syscalls.text(arena, type), FSOPEN_CLOEXEC));
        }
    }

    /// mount(2).
    ///
    /// @param synchronous `sync` and `dirsync`, which mount(2) takes as flags of the superblock
    /// @param options the file system's own options, comma-separated
    public static void mount(
            String source,
            String target,
            String type,
            Collection<MountFlag> flags,
            Collection<String> synchronous,
            String options) {
        long bits = MountFlag.legacy(flags)
                | (synchronous.contains("sync") ? MS_SYNCHRONOUS : 0)
                | (synchronous.contains("dirsync") ? MS_DIRSYNC : 0);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocateFrom(options, StandardCharsets.UTF_8);
            try {
                Syscalls.MOUNT.call(
                        Syscalls.text(arena, source),
                        Syscalls.text(arena, target),
                        Syscalls.text(arena, type),
                        bits,
                        data.address());
            } finally {
                data.fill((byte) 0); // the options may hold a key
            }
        }
    }

    /// umount2(2) of the topmost mount at `path`, whose last part must not be a symbolic link.
    ///
    /// @throws ErrnoException EINVAL if nothing is mounted there, EBUSY if it is in use
    public static void unmount(String path, Unmount... how) {
        long flags = Arrays.stream(how).mapToLong(u -> u.flag).reduce(UMOUNT_NOFOLLOW, (a, b) -> a | b);
        try (Arena arena = Arena.ofConfined()) {
            Syscalls.UMOUNT2.call(Syscalls.text(arena, path), flags);
        }
    }

    static FileSystemUsage usage(int descriptor) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment statfs = arena.allocate(ValueLayout.JAVA_LONG, STATFS_LONGS);
            Syscalls.FSTATFS.call(descriptor, statfs.address());
            long fragment = statfs.getAtIndex(ValueLayout.JAVA_LONG, F_FRSIZE);
            long unit = fragment > 0 ? fragment : statfs.getAtIndex(ValueLayout.JAVA_LONG, F_BSIZE);
            long total = statfs.getAtIndex(ValueLayout.JAVA_LONG, F_BLOCKS) * unit;
            return new FileSystemUsage(
                    total,
                    statfs.getAtIndex(ValueLayout.JAVA_LONG, F_BAVAIL) * unit,
                    Math.max(0, total - statfs.getAtIndex(ValueLayout.JAVA_LONG, F_BFREE) * unit));
        }
    }
}
