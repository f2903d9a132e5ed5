package dev.siphon.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;

/// A mount that is in no directory tree yet. It gets its flags first and is shown afterwards, so that nobody ever
/// sees a read-only volume writable, and a node killed in between leaves nothing: closing dissolves what was not
/// attached.
public final class DetachedMount implements AutoCloseable {
    private static final long MOVE_MOUNT_F_EMPTY_PATH = 0x04;
    private static final long MOVE_MOUNT_T_EMPTY_PATH = 0x40;
    private static final long MS_PRIVATE = 1 << 18;
    private static final long MOUNT_ATTR_IDMAP = 0x100000;

    private final Descriptor descriptor;

    DetachedMount(Descriptor descriptor) {
        this.descriptor = descriptor;
    }

    /// Gives the mount exactly these flags, whatever it inherited, and takes it out of the propagation group of
    /// the mount it was cloned from: mounts that somebody makes inside one copy must not appear in the others.
    public void restrict(Set<MountFlag> flags) {
        restrict(MountFlag.attributes(flags), 0);
    }

    /// As [#restrict(Set)], and has files belong to whom `owners` says. Who is not in `owners` makes no file here
    /// (EOVERFLOW), and is given none; the mount stays so also when `owners` is closed.
    ///
    /// @throws ErrnoException EINVAL if the file system cannot do that, EPERM if it was done already (to the
    ///     mount that this one was cloned from) or this process may not
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

    /// Shows the mount at `target`, on top of what is there. If `target` is in a mount that propagates, as
    /// the kubelet's folder is, the new mount propagates too.
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

    /// Makes the directory `name` in what the mount shows.
    ///
    /// @param mode its permissions
    /// @throws ErrnoException EEXIST if there is something of that name
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
