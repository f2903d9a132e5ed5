package dev.siphon.controller.ceph.fs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.siphon.controller.ceph.call.CephErrno;
import dev.siphon.controller.ceph.fs.Libcephfs.Function;
import dev.siphon.csi.DriverException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Predicate;

/// The files of a mounted file system. Every method blocks in native code. A symlink at the end of a path is
/// never followed.
///
/// [CephErrno] defines the errors; their messages name the path.
///
/// @param client mounted
/// @param root the mounted directory of the file system
record Mount(LibcephfsClient client, String root) implements AutoCloseable {
    /// `AT_SYMLINK_NOFOLLOW`, which libcephfs takes from Linux.
    private static final int NO_FOLLOW = 0x100;

    /// `AT_STATX_DONT_SYNC`: what the client has cached is enough.
    private static final int DO_NOT_SYNC = 0x4000;

    /// `CEPH_SETATTR_MODE`.
    private static final int MODE = 1;

    /// `CEPH_SETATTR_ATIME`.
    private static final int ATIME = 16;

    private static final long MAX_XATTR_BYTES = 65_536;
    private static final int MAX_LINK_BYTES = 4_096;
    private static final long DIRENT_BYTES = 280;
    private static final long DIRENT_TYPE = 18;
    private static final long DIRENT_NAME = 19;

    /// `DT_DIR`.
    private static final byte IS_DIRECTORY = 4;

    /// Links of a directory without subdirectories: its name and its own `.`; each subdirectory adds one.
    private static final int LINKS_WITHOUT_DIRECTORIES = 2;

    private static final int MANY_LINKS = Integer.MAX_VALUE;

    /// Returns the path in this mount of a path of the file system.
    ///
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if it is outside this mount
    MountPath locate(String path) {
        if (root.equals("/")) {
            return MountPath.of(path);
        }
        if (path.equals(root)) {
            return MountPath.in(root, "/");
        }
        if (path.startsWith(root + "/")) {
            return MountPath.in(root, path.substring(root.length()));
        }
        throw new DriverException.AccessDenied(
                path + " is out of reach: the cluster's user may only use " + root + " (mds caps)");
    }

    /// Returns the attributes of `path`; empty if it does not exist.
    Optional<FileStat> stat(MountPath path) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment stat = arena.allocate(FileStat.BYTES, 8);
            int returnCode = client.callUnchecked(Function.STATX, path.in(arena), stat, FileStat.WANTED, NO_FOLLOW);
            if (CephErrno.ENOENT.is(returnCode)) {
                return Optional.empty();
            }
            check(path, returnCode);
            return Optional.of(FileStat.read(stat));
        }
    }

    /// Sets mode, owner and times.
    void setAttributes(MountPath path, FileStat attributes) {
        // 2, 4 and 8 are CEPH_SETATTR_UID, GID and MTIME; a symlink has no mode of its own.
        int mask = 2 | 4 | 8 | ATIME | (attributes.kind() == FileStat.Kind.SYMLINK ? 0 : MODE);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment stat = arena.allocate(FileStat.BYTES, 8);
            attributes.write(stat);
            call(path, Function.SETATTRX, path.in(arena), stat, mask, NO_FOLLOW);
        }
    }

    /// Makes the MDS revoke all other clients' capabilities on a directory's entries (`Fs` and `Fx`,
    /// `Server::handle_client_setattr`), and waits for each. To do so, sets the access time, which nobody reads,
    /// to now.
    void takeFromOthers(MountPath path) {
        setNow(path, 0, ATIME);
    }

    /// Same as [#takeFromOthers], and sets the directory's current mode again. That revokes `As` and `Ax` too,
    /// which a client holds on everything that it has looked up.
    void takeAllFromOthers(MountPath path) {
        stat(path).ifPresent(now -> setNow(path, now.mode(), MODE | ATIME));
    }

    private void setNow(MountPath path, int mode, int mask) {
        Instant now = Instant.now();
        FileStat.Time time = new FileStat.Time(now.getEpochSecond(), now.getNano());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment stat = arena.allocate(FileStat.BYTES, 8);
            new FileStat(mode, 0, 0, 0, 0, 0, time, time, time).write(stat);
            call(path, Function.SETATTRX, path.in(arena), stat, mask, NO_FOLLOW);
        }
    }

    /// Creates a directory; leaves an existing one unchanged.
    void makeDirectory(MountPath path) {
        try (Arena arena = Arena.ofConfined()) {
            int returnCode = client.callUnchecked(Function.MKDIR, path.in(arena), 0700);
            if (!CephErrno.EEXIST.is(returnCode)) {
                check(path, returnCode);
            }
        }
    }

    /// Creates a FIFO or socket.
    void makePipe(MountPath path, int mode) {
        try (Arena arena = Arena.ofConfined()) {
            call(path, Function.MKNOD, path.in(arena), mode, 0L);
        }
    }

    /// Creates a symlink.
    void makeSymlink(MountPath target, MountPath path) {
        try (Arena arena = Arena.ofConfined()) {
            call(path, Function.SYMLINK, target.in(arena), path.in(arena));
        }
    }

    /// Creates a hard link to a file.
    void makeLink(MountPath existing, MountPath path) {
        try (Arena arena = Arena.ofConfined()) {
            call(path, Function.LINK, existing.in(arena), path.in(arena));
        }
    }

    /// Renames a file; replaces an existing file of that name.
    void rename(MountPath path, MountPath to) {
        try (Arena arena = Arena.ofConfined()) {
            call(path, Function.RENAME, path.in(arena), to.in(arena));
        }
    }

    /// Removes an entry that is not a directory.
    void unlink(MountPath path) {
        try (Arena arena = Arena.ofConfined()) {
            call(path, Function.UNLINK, path.in(arena));
        }
    }

    /// Removes an empty directory.
    void removeDirectory(MountPath path) {
        try (Arena arena = Arena.ofConfined()) {
            call(path, Function.RMDIR, path.in(arena));
        }
    }

    /// Returns the target of a symlink.
    MountPath readLink(MountPath path) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(MAX_LINK_BYTES + 1L);
            call(path, Function.READLINK, path.in(arena), buffer, (long) MAX_LINK_BYTES);
            return MountPath.read(buffer, 0);
        }
    }

    /// Returns the names of a file's extended attributes that users may set.
    List<String> userAttributes(MountPath path) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(MAX_XATTR_BYTES);
            int length = call(path, Function.LLISTXATTR, path.in(arena), buffer, MAX_XATTR_BYTES);
            List<String> names = new ArrayList<>();
            for (long at = 0; at < length; at += names.getLast().length() + 1) {
                names.add(buffer.getString(at, StandardCharsets.ISO_8859_1));
            }
            names.removeIf(name -> !name.startsWith("user."));
            return names;
        }
    }

    /// Returns an extended attribute as text; empty if the attribute or the file does not exist.
    Optional<String> attribute(MountPath path, String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(MAX_XATTR_BYTES);
            int length = client.callUnchecked(
                    Function.LGETXATTR, path.in(arena), arena.allocateFrom(name), value, MAX_XATTR_BYTES);
            if (CephErrno.ENODATA.is(length) || CephErrno.ENOENT.is(length)) {
                return Optional.empty();
            }
            check(path, length);
            return Optional.of(new String(value.asSlice(0, length).toArray(JAVA_BYTE), StandardCharsets.UTF_8));
        }
    }

    /// Returns an extended attribute, which must exist.
    byte[] attributeBytes(MountPath path, String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(MAX_XATTR_BYTES);
            MemorySegment key = arena.allocateFrom(name, StandardCharsets.ISO_8859_1);
            int length = call(path, Function.LGETXATTR, path.in(arena), key, value, MAX_XATTR_BYTES);
            return value.asSlice(0, length).toArray(JAVA_BYTE);
        }
    }

    /// Sets an extended attribute to a text.
    void setAttribute(MountPath path, String name, String value) {
        try (Arena arena = Arena.ofConfined()) {
            byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
            MemorySegment memory = arena.allocateFrom(value);
            call(path, Function.LSETXATTR, path.in(arena), arena.allocateFrom(name), memory, (long) bytes.length, 0);
        }
    }

    /// Copies one extended attribute from a file to another.
    void copyAttribute(String name, MountPath from, MountPath to) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(MAX_XATTR_BYTES);
            MemorySegment key = arena.allocateFrom(name, StandardCharsets.ISO_8859_1);
            int length = call(from, Function.LGETXATTR, from.in(arena), key, value, MAX_XATTR_BYTES);
            call(to, Function.LSETXATTR, to.in(arena), key, value, (long) length, 0);
        }
    }

    /// Removes an extended attribute; a missing one is no error.
    void removeAttribute(String name, MountPath path) {
        try (Arena arena = Arena.ofConfined()) {
            int returnCode = client.callUnchecked(
                    Function.LREMOVEXATTR, path.in(arena), arena.allocateFrom(name, StandardCharsets.ISO_8859_1));
            if (!CephErrno.ENODATA.is(returnCode)) {
                check(path, returnCode);
            }
        }
    }

    /// One entry of a directory. Its attributes are not requested: that may take long if another client has the
    /// file open.
    ///
    /// @param mayHoldDirectories false if it is not a directory, or is known to have no subdirectory
    record Entry(MountPath name, boolean isDirectory, boolean mayHoldDirectories) {}

    /// Passes every entry of a directory to `each`, in the MDS's order.
    void list(MountPath path, Consumer<Entry> each) {
        var _ = listFrom(path, 0, entry -> {
            each.accept(entry);
            return true;
        });
    }

    /// Passes entries of a directory to `each` until it returns false.
    ///
    /// @param from 0 for the first, or the result of an earlier listing of this directory; nobody may have
    ///     changed it since
    /// @return where the next entry is; empty after the last one
    OptionalLong listFrom(MountPath path, long from, Predicate<Entry> each) {
        return client.listings().take(path, () -> openAndRead(path, from, each));
    }

    private OptionalLong openAndRead(MountPath path, long from, Predicate<Entry> each) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(ADDRESS);
            call(path, Function.OPENDIR, path.in(arena), pointer);
            MemorySegment directory = pointer.get(ADDRESS, 0);
            try {
                return read(path, directory, from, each);
            } finally {
                client.callUnchecked(Function.CLOSEDIR, directory);
            }
        }
    }

    /// Same as [#listFrom], for a directory that is open for reading.
    OptionalLong read(MountPath path, MemorySegment directory, long from, Predicate<Entry> each) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment entry = arena.allocate(DIRENT_BYTES, 8);
            MemorySegment stat = arena.allocate(FileStat.BYTES, 8);
            if (from != 0) {
                client.seek(directory, from);
            }
            while (next(path, directory, entry, stat)) {
                MountPath name = MountPath.read(entry, DIRENT_NAME);
                if (!name.isSelfOrParent()
                        && !each.test(entry(name, entry.get(JAVA_BYTE, DIRENT_TYPE) == IS_DIRECTORY, stat))) {
                    return OptionalLong.of(client.position(directory));
                }
            }
            return OptionalLong.empty();
        }
    }

    private static Entry entry(MountPath name, boolean isDirectory, MemorySegment stat) {
        return new Entry(
                name, isDirectory, isDirectory && FileStat.links(stat).orElse(MANY_LINKS) != LINKS_WITHOUT_DIRECTORIES);
    }

    private boolean next(MountPath path, MemorySegment directory, MemorySegment entry, MemorySegment stat) {
        return call(path, Function.READDIRPLUS_R, directory, entry, stat, 0, DO_NOT_SYNC, MemorySegment.NULL) > 0;
    }

    /// Opens a file.
    ///
    /// @param flags of [OpenFlags]
    OpenFile open(MountPath path, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            int descriptor = call(path, Function.OPEN, path.in(arena), flags | OpenFlags.NO_FOLLOW, 0600);
            return new OpenFile(this, path, descriptor);
        }
    }

    /// Opens a directory without following any symlink on the way.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if a part is a symlink or not a directory
    OpenFile openDirectory(MountPath path) {
        OpenFile directory = open(MountPath.of("/"), OpenFlags.DIRECTORY);
        for (MountPath part : path.steps()) {
            try (OpenFile parent = directory) {
                directory = parent.openDirectory(part);
            }
        }
        if (directory.stat().kind() != FileStat.Kind.DIRECTORY) {
            directory.close();
            throw new DriverException.InvalidRequest(path + " is not a directory");
        }
        return directory;
    }

    /// Writes everything that is still in this client's memory.
    void sync() {
        client.call("writing buffered data", Function.SYNC_FS);
    }

    /// See [LibcephfsClient#close].
    @Override
    public void close() {
        client.close();
    }

    /// Throws the exception for a negative return code.
    void check(MountPath path, int returnCode) {
        if (returnCode < 0) {
            throw client.failure(returnCode, "file operation on " + path.brief(), "");
        }
    }

    /// Calls a function on a file.
    int call(MountPath path, Function function, Object... arguments) {
        int returnCode = client.callUnchecked(function, arguments);
        check(path, returnCode);
        return returnCode;
    }
}
