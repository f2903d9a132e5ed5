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

/// A directory held by a descriptor (`O_PATH`), so that callers use exactly the directory that they checked: later
/// renames or symbolic links do not affect it.
///
/// Every method except [#close] may hang with the directory's file system, and throws [ErrnoException].
public final class DirectoryHandle implements AutoCloseable {
    private static final long AT_REMOVEDIR = 0x200;
    private static final long AT_STATX_FORCE_SYNC = 0x2000;
    private static final long OPEN_TREE_CLONE = 1;
    private static final long MAX_ATTRIBUTE_BYTES = 4096;

    private final Descriptor descriptor;

    private DirectoryHandle(Descriptor descriptor) {
        this.descriptor = descriptor;
    }

    /// Opens the directory at an absolute path without symbolic links (`RESOLVE_NO_SYMLINKS` of openat2(2)).
    /// Opening the root of a mount does not contact its file system, so this works for a dead mount too.
    ///
    /// @throws ErrnoException ELOOP for a symbolic link, ENOTDIR for another kind of file, ENOENT if it does not
    ///     exist
    public static DirectoryHandle open(String absolute) {
        return open(Syscalls.AT_FDCWD, absolute, Descriptor.RESOLVE_NO_SYMLINKS | Descriptor.RESOLVE_NO_MAGICLINKS);
    }

    /// Opens a directory below this one, at a relative path that neither leaves it nor crosses a symbolic link.
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

    /// Returns the id of the mount through which this directory was opened, as in [MountEntry#id].
    public long mountId() {
        try {
            return Files.readAllLines(Path.of("/proc/self/fdinfo/" + descriptor.number())).stream()
                    .filter(line -> line.startsWith("mnt_id:"))
                    .map(line ->
                            Long.parseLong(line.substring("mnt_id:".length()).strip()))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("the kernel reports no mount for a descriptor"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns at most `limit` names in this directory, unordered.
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

    /// Creates the directory `name` in this one. Succeeds if the name exists.
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

    /// Removes the empty directory `name` from this one. Succeeds if it does not exist.
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

    /// Unmounts the topmost mount at `name` in this directory, which must not be a symbolic link.
    public void unmount(String name, MountSyscalls.Unmount... how) {
        MountSyscalls.unmount(descriptor.path() + "/" + name, how);
    }

    /// Clones the mount of this directory as a [DetachedMount].
    public DetachedMount cloneMount() {
        try (Arena arena = Arena.ofConfined()) {
            return new DetachedMount(new Descriptor(Syscalls.OPEN_TREE.call(
                    descriptor.number(),
                    Syscalls.text(arena, ""),
                    Syscalls.AT_EMPTY_PATH | OPEN_TREE_CLONE | Descriptor.O_CLOEXEC)));
        }
    }

    /// Returns statfs(2) of this directory's file system.
    public FileSystemUsage usage() {
        return MountSyscalls.usage(descriptor.number());
    }

    /// Reads this directory's attributes from the server of a network file system, bypassing caches.
    public void refresh() {
        FileStatus.of(descriptor, AT_STATX_FORCE_SYNC);
    }

    /// Returns the owner from the server, as mapped by the mount through which the directory was opened.
    public FileOwner owner() {
        return FileStatus.of(descriptor, AT_STATX_FORCE_SYNC).owner();
    }

    /// Returns the extended attribute `name`; empty if the directory or its file system lacks it, or reading it is
    /// not allowed.
    public Optional<String> attribute(String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(MAX_ATTRIBUTE_BYTES);
            // by the descriptor's path: fgetxattr(2) rejects an O_PATH descriptor
            long length = Syscalls.GETXATTR.call(
                    Syscalls.text(arena, descriptor.path()),
                    Syscalls.text(arena, name),
                    value.address(),
                    MAX_ATTRIBUTE_BYTES);
            byte[] octets = value.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
            return Optional.of(new String(octets, StandardCharsets.UTF_8));
        } catch (ErrnoException e) {
            // Linux' EOPNOTSUPP: both have the same number
            if (e.is(Errno.ENODATA, Errno.ENOTSUP, Errno.EACCES, Errno.EPERM)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /// Sets the extended attribute `name`.
    ///
    /// @throws ErrnoException EACCES or EPERM if that is not allowed; ENOTSUP or EINVAL if the file system does not
    ///     support it
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
