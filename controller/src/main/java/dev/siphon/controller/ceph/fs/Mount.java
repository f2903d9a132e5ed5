package dev.siphon.controller.ceph.fs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.siphon.controller.ceph.call.CephErrno;
import dev.siphon.controller.ceph.fs.Libcephfs.Function;
import dev.siphon.csi.DriverException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/// A `ceph_mount_info`: a client of one file system, acting as root. Every method blocks in native code;
/// names at the end of a path are never followed if they are symlinks.
///
/// Errors are those of [CephErrno], with the path in the message.
final class Mount implements AutoCloseable {
    /// `AT_SYMLINK_NOFOLLOW`, which libcephfs takes from Linux.
    private static final int NO_FOLLOW = 0x100;

    /// `AT_STATX_DONT_SYNC`: what the client knows will do.
    private static final int DO_NOT_SYNC = 0x4000;

    private static final long MAX_XATTR_BYTES = 65_536;
    private static final int MAX_LINK_BYTES = 4_096;
    private static final long DIRENT_BYTES = 280;
    private static final long DIRENT_TYPE = 18;
    private static final long DIRENT_NAME = 19;

    /// `DT_DIR`.
    private static final byte IS_DIRECTORY = 4;

    private final Libcephfs library;
    private final MemorySegment mount;
    private volatile boolean cutOff;

    private Mount(Libcephfs library, MemorySegment mount) {
        this.library = library;
        this.mount = mount;
    }

    /// Makes a client that is not mounted.
    static Mount create(Libcephfs library, String user) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(ADDRESS);
            int returnCode = library.call(Function.CREATE, pointer, arena.allocateFrom(user));
            if (returnCode < 0) {
                throw CephErrno.failure(returnCode, "making a client of libcephfs", "");
            }
            return new Mount(library, pointer.get(ADDRESS, 0));
        }
    }

    /// Sets an option of Ceph.
    void configure(String option, String value) {
        try (Arena arena = Arena.ofConfined()) {
            check("setting " + option, Function.CONF_SET, mount, arena.allocateFrom(option), arena.allocateFrom(value));
        }
    }

    /// Connects to the mons, as root, for commands to MDS daemons.
    void init() {
        check("connecting", Function.INIT, mount);
        MemorySegment root = (MemorySegment) library.callAny(Function.USERPERM_NEW, 0, 0, 0, MemorySegment.NULL);
        check("becoming root", Function.MOUNT_PERMS_SET, mount, root);
        library.callAny(Function.USERPERM_DESTROY, root);
    }

    /// Mounts the root of a file system.
    void mount(String fileSystem) {
        try (Arena arena = Arena.ofConfined()) {
            String what = "mounting file system " + fileSystem;
            check(what, Function.SELECT_FILESYSTEM, mount, arena.allocateFrom(fileSystem));
            check(what, Function.MOUNT, mount, arena.allocateFrom("/"));
        }
    }

    /// Sends a command to an MDS daemon and blocks for its answer.
    ///
    /// @param daemon its global id
    /// @param json the command
    String command(long daemon, String json) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment commands = arena.allocate(ADDRESS);
            commands.set(ADDRESS, 0, arena.allocateFrom(json));
            MemorySegment output = arena.allocate(ADDRESS);
            MemorySegment outputLength = arena.allocate(JAVA_LONG);
            MemorySegment words = arena.allocate(ADDRESS);
            MemorySegment wordsLength = arena.allocate(JAVA_LONG);
            int returnCode = library.call(
                    Function.MDS_COMMAND,
                    mount,
                    arena.allocateFrom(Long.toString(daemon)),
                    commands,
                    1L,
                    MemorySegment.NULL,
                    0L,
                    output,
                    outputLength,
                    words,
                    wordsLength);
            String result = take(output, outputLength);
            String detail = take(words, wordsLength);
            if (returnCode < 0) {
                throw failure(returnCode, "a command to the MDS with id " + daemon, detail);
            }
            return result;
        }
    }

    @SuppressWarnings("restricted")
    private String take(MemorySegment pointer, MemorySegment length) {
        MemorySegment buffer = pointer.get(ADDRESS, 0);
        if (buffer.address() == 0) {
            return "";
        }
        byte[] bytes = buffer.reinterpret(length.get(JAVA_LONG, 0)).toArray(JAVA_BYTE);
        library.callAny(Function.BUFFER_FREE, buffer);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /// What there is at `path`; empty if nothing.
    Optional<FileStat> stat(MountPath path) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment stat = arena.allocate(FileStat.BYTES, 8);
            int returnCode = library.call(Function.STATX, mount, path.in(arena), stat, FileStat.WANTED, NO_FOLLOW);
            if (CephErrno.ENOENT.is(returnCode)) {
                return Optional.empty();
            }
            check(path, returnCode);
            return Optional.of(FileStat.read(stat));
        }
    }

    /// Sets mode, owner and times.
    void setAttributes(MountPath path, FileStat attributes) {
        // CEPH_SETATTR_MODE, UID, GID, MTIME, ATIME; a symlink has no mode of its own
        int mask = attributes.kind() == FileStat.Kind.SYMLINK ? 2 | 4 | 8 | 16 : 1 | 2 | 4 | 8 | 16;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment stat = arena.allocate(FileStat.BYTES, 8);
            attributes.write(stat);
            check(path, library.call(Function.SETATTRX, mount, path.in(arena), stat, mask, NO_FOLLOW));
        }
    }

    /// Makes a directory; one that is there already is left alone.
    void makeDirectory(MountPath path) {
        try (Arena arena = Arena.ofConfined()) {
            int returnCode = library.call(Function.MKDIR, mount, path.in(arena), 0700);
            if (!CephErrno.EEXIST.is(returnCode)) {
                check(path, returnCode);
            }
        }
    }

    /// Makes a FIFO or socket.
    void makePipe(MountPath path, int mode) {
        try (Arena arena = Arena.ofConfined()) {
            check(path, library.call(Function.MKNOD, mount, path.in(arena), mode, 0L));
        }
    }

    /// Makes a symlink.
    void makeSymlink(MountPath target, MountPath path) {
        try (Arena arena = Arena.ofConfined()) {
            check(path, library.call(Function.SYMLINK, mount, target.in(arena), path.in(arena)));
        }
    }

    /// Gives a file another name.
    void makeLink(MountPath existing, MountPath path) {
        try (Arena arena = Arena.ofConfined()) {
            check(path, library.call(Function.LINK, mount, existing.in(arena), path.in(arena)));
        }
    }

    /// Removes what is no directory.
    void unlink(MountPath path) {
        try (Arena arena = Arena.ofConfined()) {
            check(path, library.call(Function.UNLINK, mount, path.in(arena)));
        }
    }

    /// Removes an empty directory.
    void removeDirectory(MountPath path) {
        try (Arena arena = Arena.ofConfined()) {
            check(path, library.call(Function.RMDIR, mount, path.in(arena)));
        }
    }

    /// Where a symlink leads.
    MountPath readLink(MountPath path) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(MAX_LINK_BYTES + 1L);
            check(path, library.call(Function.READLINK, mount, path.in(arena), buffer, (long) MAX_LINK_BYTES));
            return MountPath.read(buffer, 0);
        }
    }

    /// The names of a file's extended attributes that users may set.
    List<String> userAttributes(MountPath path) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(MAX_XATTR_BYTES);
            int length = library.call(Function.LLISTXATTR, mount, path.in(arena), buffer, MAX_XATTR_BYTES);
            check(path, length);
            List<String> names = new ArrayList<>();
            for (long at = 0; at < length; at += names.getLast().length() + 1) {
                names.add(buffer.getString(at, StandardCharsets.ISO_8859_1));
            }
            names.removeIf(name -> !name.startsWith("user."));
            return names;
        }
    }

    /// Copies one extended attribute from a file to another.
    void copyAttribute(String name, MountPath from, MountPath to) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(MAX_XATTR_BYTES);
            MemorySegment key = arena.allocateFrom(name, StandardCharsets.ISO_8859_1);
            int length = library.call(Function.LGETXATTR, mount, from.in(arena), key, value, MAX_XATTR_BYTES);
            check(from, length);
            check(to, library.call(Function.LSETXATTR, mount, to.in(arena), key, value, (long) length, 0));
        }
    }

    /// One entry of a directory. Its attributes are not asked for: they may take long where another client
    /// has the file open.
    record Entry(MountPath name, boolean isDirectory) {}

    /// Hands every entry of a directory to `each`, in the order in which the MDS has them.
    void list(MountPath path, Consumer<Entry> each) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(ADDRESS);
            check(path, library.call(Function.OPENDIR, mount, path.in(arena), pointer));
            MemorySegment directory = pointer.get(ADDRESS, 0);
            MemorySegment entry = arena.allocate(DIRENT_BYTES, 8);
            MemorySegment stat = arena.allocate(FileStat.BYTES, 8);
            try {
                while (next(path, directory, entry, stat)) {
                    MountPath name = MountPath.read(entry, DIRENT_NAME);
                    if (!name.isSelfOrParent()) {
                        each.accept(new Entry(name, entry.get(JAVA_BYTE, DIRENT_TYPE) == IS_DIRECTORY));
                    }
                }
            } finally {
                library.call(Function.CLOSEDIR, mount, directory);
            }
        }
    }

    private boolean next(MountPath path, MemorySegment directory, MemorySegment entry, MemorySegment stat) {
        int returnCode =
                library.call(Function.READDIRPLUS_R, mount, directory, entry, stat, 0, DO_NOT_SYNC, MemorySegment.NULL);
        check(path, returnCode);
        return returnCode > 0;
    }

    /// Opens a file.
    ///
    /// @param flags of [OpenFlags]
    OpenFile open(MountPath path, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            int descriptor = library.call(Function.OPEN, mount, path.in(arena), flags | OpenFlags.NO_FOLLOW, 0600);
            check(path, descriptor);
            return new OpenFile(this, path, descriptor);
        }
    }

    /// Opens a directory without following any symlink on the way to it.
    ///
    /// @throws DriverException.InvalidRequest if something on the way is a symlink or no directory
    OpenFile openDirectory(MountPath path) {
        OpenFile directory = open(MountPath.of("/"), OpenFlags.DIRECTORY);
        for (MountPath part : path.steps()) {
            try (OpenFile parent = directory) {
                directory = parent.openDirectory(part);
            }
        }
        if (directory.stat().kind() != FileStat.Kind.DIRECTORY) {
            directory.close();
            throw new DriverException.InvalidRequest(path + " is no directory");
        }
        return directory;
    }

    /// Writes everything that is still in this client's memory.
    void sync() {
        check("writing what is in memory", Function.SYNC_FS, mount);
    }

    /// Unmounts and frees; nothing may run in it.
    @Override
    public void close() {
        library.call(Function.UNMOUNT, mount);
        library.call(Function.RELEASE, mount);
    }

    /// Whether the MDS has ended this client's session, so that only another mount can go on.
    boolean isCutOff() {
        return cutOff;
    }

    /// Calls a function on an open file.
    int call(MountPath path, Function function, Object... arguments) {
        int returnCode = library.call(function, arguments);
        check(path, returnCode);
        return returnCode;
    }

    /// The handle, for functions on open files.
    MemorySegment handle() {
        return mount;
    }

    private void check(MountPath path, int returnCode) {
        if (returnCode < 0) {
            throw failure(returnCode, "file operation on " + path, "");
        }
    }

    private void check(String what, Function function, Object... arguments) {
        int returnCode = library.call(function, arguments);
        if (returnCode < 0) {
            throw failure(returnCode, what, "");
        }
    }

    private DriverException failure(int returnCode, String what, String detail) {
        if (CephErrno.ESHUTDOWN.is(returnCode) || CephErrno.ENOTCONN.is(returnCode)) {
            cutOff = true;
        }
        return CephErrno.failure(returnCode, what, detail);
    }
}
