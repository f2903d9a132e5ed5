package dev.siphon.node.linux;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import jnr.constants.platform.Errno;

/// A directory held by a descriptor (`O_PATH`), so that what was checked is what is used: no rename or symbolic
/// link put in its place afterwards changes which directory this is.
///
/// Every method but [#close] asks the file system behind it and may hang with it. All throw [ErrnoException].
public final class DirectoryHandle implements AutoCloseable {
    private static final long AT_REMOVEDIR = 0x200;
    private static final long AT_STATX_FORCE_SYNC = 0x2000;
    private static final long OPEN_TREE_CLONE = 1;
    private static final long MAX_ATTRIBUTE_BYTES = 4096;

    private final Descriptor descriptor;

    private DirectoryHandle(Descriptor descriptor) {
        this.descriptor = descriptor;
    }

    /// Opens the directory at an absolute path in which no part at all is a symbolic link (`RESOLVE_NO_SYMLINKS`
    /// of openat2(2)). Opening the root of a mount does not ask the file system mounted there, so a dead one
    /// opens too.
    ///
    /// @throws ErrnoException ELOOP for a symbolic link, ENOTDIR for another kind of file, ENOENT if there is
    ///     nothing
    public static DirectoryHandle open(String absolute) {
        return open(Syscalls.AT_FDCWD, absolute, Descriptor.RESOLVE_NO_SYMLINKS | Descriptor.RESOLVE_NO_MAGICLINKS);
    }

    /// Opens a directory below this one, at a relative path that neither leaves it nor has a symbolic link in it.
    ///
    /// @throws ErrnoException as [#open], and EXDEV for a path that leads out
    public DirectoryHandle openBelow(String relative) {
        return open(
                descriptor.number(),
                relative,
                Descriptor.RESOLVE_BENEATH | Descriptor.RESOLVE_NO_SYMLINKS | Descriptor.RESOLVE_NO_MAGICLINKS);
    }

    private static DirectoryHandle open(long at, String path, long resolve) {
        return new DirectoryHandle(Descriptor.open(at, path, Descriptor.O_PATH | Syscalls.O_DIRECTORY, 0, resolve));
    }

    /// The number of the mount that this directory was reached through, as in [MountEntry#id].
    public long mountId() {
        try {
            return Files.readAllLines(Path.of("/proc/self/fdinfo/" + descriptor.number())).stream()
                    .filter(line -> line.startsWith("mnt_id:"))
                    .map(line ->
                            Long.parseLong(line.substring("mnt_id:".length()).strip()))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("the kernel tells no mount of a descriptor"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The names in this directory, at most `limit` of them, in no order.
    public List<String> names(int limit) {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(Path.of(descriptor.path()))) {
            for (Path entry : entries) {
                if (names.size() == limit) {
                    break;
                }
                names.add(String.valueOf(entry.getFileName()));
            }
        } catch (DirectoryIteratorException e) {
            throw new UncheckedIOException(e.getCause());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return names;
    }

    /// Makes the directory `name` in this one, unless there is something of that name.
    ///
    /// @param mode its permissions
    public void makeDirectory(String name, int mode) {
        try (Arena arena = Arena.ofConfined()) {
            Syscalls.MKDIRAT.call(descriptor.number(), Syscalls.text(arena, name), mode);
        } catch (ErrnoException e) {
            if (!e.is(Errno.EEXIST)) {
                throw e;
            }
        }
    }

    /// Removes the empty directory `name` from this one; that it is gone already is success.
    ///
    /// @throws ErrnoException ENOTEMPTY, ENOTDIR or EBUSY (something is mounted there)
    public void removeDirectory(String name) {
        try (Arena arena = Arena.ofConfined()) {
            Syscalls.UNLINKAT.call(descriptor.number(), Syscalls.text(arena, name), AT_REMOVEDIR);
        } catch (ErrnoException e) {
            if (!e.is(Errno.ENOENT)) {
                throw e;
            }
        }
    }

    /// Unmounts what is mounted on top at `name` in this directory, which may not be a symbolic link.
    public void unmount(String name, MountSyscalls.Unmount... how) {
        MountSyscalls.unmount(descriptor.path() + "/" + name, how);
    }

    /// A second mount of this directory, not visible anywhere yet.
    public DetachedMount cloneMount() {
        try (Arena arena = Arena.ofConfined()) {
            return new DetachedMount(new Descriptor(Syscalls.OPEN_TREE.call(
                    descriptor.number(),
                    Syscalls.text(arena, ""),
                    Syscalls.AT_EMPTY_PATH | OPEN_TREE_CLONE | Descriptor.O_CLOEXEC)));
        }
    }

    /// statfs(2) of the file system that this directory is in.
    public FileSystemUsage usage() {
        return MountSyscalls.usage(descriptor.number());
    }

    /// Asks the server behind a network file system for this directory's attributes, whatever is cached here.
    public void refresh() {
        FileStatus.of(descriptor, AT_STATX_FORCE_SYNC);
    }

    /// Whose this directory is, as the mount shows it that it was reached through; the server is asked.
    public FileOwner owner() {
        return FileStatus.of(descriptor, AT_STATX_FORCE_SYNC).owner();
    }

    /// The extended attribute `name`, empty if this directory or its file system has none of that name, or it may
    /// not be read.
    public Optional<String> attribute(String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(MAX_ATTRIBUTE_BYTES);
            // by way of the descriptor's path: fgetxattr(2) refuses a descriptor opened with O_PATH
            long length = Syscalls.GETXATTR.call(
                    Syscalls.text(arena, descriptor.path()),
                    Syscalls.text(arena, name),
                    value.address(),
                    MAX_ATTRIBUTE_BYTES);
            byte[] octets = value.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
            return Optional.of(new String(octets, StandardCharsets.UTF_8));
        } catch (ErrnoException e) {
            // ENOTSUP is how Linux says EOPNOTSUPP: both have the same number
            if (e.is(Errno.ENODATA, Errno.ENOTSUP, Errno.EACCES, Errno.EPERM)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /// Gives this directory the extended attribute `name`, or another value of it.
    ///
    /// @throws ErrnoException EACCES or EPERM if that may not be done, ENOTSUP or EINVAL if the file system has
    ///     no such attribute
    public void attribute(String name, String value) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment octets = arena.allocateFrom(ValueLayout.JAVA_BYTE, value.getBytes(StandardCharsets.UTF_8));
            Syscalls.SETXATTR.call(
                    Syscalls.text(arena, descriptor.path()),
                    Syscalls.text(arena, name),
                    octets.address(),
                    octets.byteSize(),
                    0);
        }
    }

    int number() {
        return descriptor.number();
    }

    @Override
    public void close() {
        descriptor.close();
    }
}
