package dev.siphon.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;

/// A mount outside any directory tree. It gets its flags before it is attached, so nobody ever sees a read-only
/// volume writable. If this process is killed in between, nothing remains. Closing it dissolves a mount that was
/// not attached.
public final class DetachedMount implements AutoCloseable {
    private static final long MOVE_MOUNT_F_EMPTY_PATH = 0x04;
    private static final long MOVE_MOUNT_T_EMPTY_PATH = 0x40;
    private static final long MS_PRIVATE = 1 << 18;
    private static final long MOUNT_ATTR_IDMAP = 0x100000;

    private final Descriptor descriptor;

    DetachedMount(Descriptor descriptor) {
        this.descriptor = descriptor;
    }

    /// Sets exactly these flags, whatever the mount inherited. Also makes it private (no mount propagation): a
    /// mount inside one copy must not appear in the others.
    public void restrict(Set<MountFlag> flags) {
        restrict(MountFlag.attributes(flags), 0);
    }

    /// Same as [#restrict(Set)], and maps the owners of files by `owners`. Owners outside the mapping cannot create
    /// files here (EOVERFLOW), nor receive any. The mapping outlives `owners`.
    ///
    /// @throws ErrnoException EINVAL if the file system does not support it; EPERM if this mount's origin is
    ///     already id-mapped, or this process lacks the privilege
    public void restrict(Set<MountFlag> flags, UserNamespace owners) {
        restrict(MountFlag.attributes(flags) | MOUNT_ATTR_IDMAP, owners.number());
    }

    private void restrict(long set, int namespace) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ValueLayout.JAVA_LONG, 4);
            attributes.setAtIndex(ValueLayout.JAVA_LONG, 0, set);
            attributes.setAtIndex(
                    ValueLayout.JAVA_LONG, 1, MountFlag.attributes(Set.of(MountFlag.values())) | MountFlag.ATIME_MASK);
            attributes.setAtIndex(ValueLayout.JAVA_LONG, 2, MS_PRIVATE);
            attributes.setAtIndex(ValueLayout.JAVA_LONG, 3, namespace);
            Syscalls.MOUNT_SETATTR.call(
                    descriptor.number(),
                    empty(arena),
                    Syscalls.AT_EMPTY_PATH,
                    attributes.address(),
                    attributes.byteSize());
        }
    }

    /// Attaches the mount at `target`, on top of what is there. If the mount that holds `target` propagates, as the
    /// kubelet's directory does, the new mount propagates too.
    public void attach(DirectoryHandle target) {
        try (Arena arena = Arena.ofConfined()) {
            long empty = empty(arena);
            Syscalls.MOVE_MOUNT.call(
                    descriptor.number(),
                    empty,
                    target.number(),
                    empty,
                    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
        }
    }

    /// Creates the directory `name` in the mount.
    ///
    /// @param mode its permissions
    /// @throws ErrnoException EEXIST if the name exists
    public void makeDirectory(String name, int mode) {
        try (Arena arena = Arena.ofConfined()) {
            Syscalls.MKDIRAT.call(descriptor.number(), Syscalls.text(arena, name), mode);
        }
    }

    private static long empty(Arena arena) {
        return Syscalls.text(arena, "");
    }

    @Override
    public void close() {
        descriptor.close();
    }
}
