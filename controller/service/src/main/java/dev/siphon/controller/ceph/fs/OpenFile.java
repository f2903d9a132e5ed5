package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.ceph.fs.Libcephfs.Function;
import dev.siphon.csi.DriverException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;

/// An open file or directory of a mount.
///
/// @param path for messages
record OpenFile(Mount mount, MountPath path, int descriptor) implements AutoCloseable {
    /// Room for the longest name of an account, in UTF-8.
    private static final int MAX_ATTRIBUTE_BYTES = 1_100;

    /// Returns its attributes.
    FileStat stat() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment stat = arena.allocate(FileStat.BYTES, 8);
            mount.call(path, Function.FSTATX, descriptor, stat, FileStat.WANTED, 0);
            return FileStat.read(stat);
        }
    }

    /// Reads up to the size of `buffer` at `offset`.
    ///
    /// @return the number of bytes read; 0 at the end
    int read(MemorySegment buffer, long offset) {
        return mount.call(path, Function.READ, descriptor, buffer, buffer.byteSize(), offset);
    }

    /// Writes all of `buffer` at `offset`.
    void write(MemorySegment buffer, long offset) {
        for (long done = 0; done < buffer.byteSize(); ) {
            MemorySegment rest = buffer.asSlice(done);
            done += mount.call(path, Function.WRITE, descriptor, rest, rest.byteSize(), offset + done);
        }
    }

    /// Sets the file's length; added bytes read as zeros.
    void setLength(long bytes) {
        mount.call(path, Function.FTRUNCATE, descriptor, bytes);
    }

    /// Waits until all changes of this file are on disk.
    void sync() {
        mount.call(path, Function.FSYNC, descriptor, 0);
    }

    /// Sets the permission bits.
    void setMode(int mode) {
        mount.call(path, Function.FCHMOD, descriptor, mode);
    }

    /// Returns a number that Ceph keeps as an attribute of a directory; empty if absent or 0.
    ///
    /// @param name for example `ceph.quota.max_bytes`
    OptionalLong number(String name) {
        long number = attribute(name).map(Long::parseLong).orElse(0L);
        return number == 0 ? OptionalLong.empty() : OptionalLong.of(number);
    }

    /// Returns a short attribute of a directory, Ceph's or our own; empty if absent.
    ///
    /// @param name for example `ceph.snap.btime`
    Optional<String> attribute(String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(MAX_ATTRIBUTE_BYTES + 1L);
            mount.call(
                    path, Function.FGETXATTR, descriptor, arena.allocateFrom(name), value, (long) MAX_ATTRIBUTE_BYTES);
            return Optional.of(value.getString(0, StandardCharsets.UTF_8));
        } catch (DriverException.NotFound _) {
            // ENODATA: no such attribute. An open directory cannot be missing.
            return Optional.empty();
        }
    }

    /// Sets a number attribute.
    void setNumber(String name, long number) {
        setText(name, Long.toString(number));
    }

    /// Sets a text attribute.
    void setText(String name, String text) {
        try (Arena arena = Arena.ofConfined()) {
            byte[] value = text.getBytes(StandardCharsets.UTF_8);
            mount.call(
                    path,
                    Function.FSETXATTR,
                    descriptor,
                    arena.allocateFrom(name),
                    arena.allocateFrom(java.lang.foreign.ValueLayout.JAVA_BYTE, value),
                    (long) value.length,
                    0);
        }
    }

    /// Opens a directory below this one; libcephfs does not check that it is a directory.
    ///
    /// @param name one name, or `.snap/NAME`
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is a symlink
    OpenFile openDirectory(MountPath name) {
        return open(name, OpenFlags.DIRECTORY);
    }

    /// Opens an entry of this directory.
    ///
    /// @param name one name
    /// @param flags of [OpenFlags]
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is a symlink
    OpenFile open(MountPath name, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MountPath whole = path.child(name);
            int child =
                    mount.call(whole, Function.OPENAT, descriptor, name.in(arena), flags | OpenFlags.NO_FOLLOW, 0600);
            return new OpenFile(mount, whole, child);
        }
    }

    /// Closes it; throws if earlier writes failed.
    @Override
    public void close() {
        mount.call(path, Function.CLOSE, descriptor);
    }
}
