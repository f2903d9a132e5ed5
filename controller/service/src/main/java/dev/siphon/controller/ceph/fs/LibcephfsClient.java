package dev.siphon.controller.ceph.fs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.siphon.controller.ceph.call.CephErrno;
import dev.siphon.controller.ceph.fs.Libcephfs.Function;
import dev.siphon.csi.DriverException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/// A `ceph_mount_info` that acts as root. Every method blocks in native code; [CephErrno] defines the errors.
final class LibcephfsClient implements AutoCloseable {
    /// `CEPH_RECLAIM_RESET`: end the session and take nothing over.
    private static final int RESET = 1;

    /// Maximum length of an MDS's error message in bytes.
    private static final int MOST_WORDS = 4_096;

    private final Libcephfs library;
    private final MemorySegment handle;
    private final DirectoryListingLock listings = new DirectoryListingLock();
    private volatile boolean cutOff;

    private LibcephfsClient(Libcephfs library, MemorySegment handle) {
        this.library = library;
        this.handle = handle;
    }

    /// Creates a client that is not connected.
    static LibcephfsClient create(String user) {
        Libcephfs library = Libcephfs.load();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(ADDRESS);
            int returnCode = library.call(Function.CREATE, pointer, arena.allocateFrom(user));
            if (returnCode < 0) {
                throw CephErrno.failure(returnCode, "creating a client of libcephfs", "");
            }
            return new LibcephfsClient(library, pointer.get(ADDRESS, 0));
        }
    }

    /// Sets a Ceph option.
    void configure(String option, String value) {
        try (Arena arena = Arena.ofConfined()) {
            call("setting " + option, Function.CONF_SET, arena.allocateFrom(option), arena.allocateFrom(value));
        }
    }

    /// Connects to the mons as root, for commands to MDS daemons.
    void connect() {
        call("connecting", Function.INIT);
        MemorySegment root = (MemorySegment) library.callAny(Function.USERPERM_NEW, 0, 0, 0, MemorySegment.NULL);
        call("becoming root", Function.MOUNT_PERMS_SET, root);
        library.callAny(Function.USERPERM_DESTROY, root);
    }

    /// Returns the lock for listing directories.
    DirectoryListingLock listings() {
        return listings;
    }

    /// Returns the user that this client acts as, for functions that need it.
    MemorySegment permissions() {
        return (MemorySegment) library.callAny(Function.MOUNT_PERMS, handle);
    }

    /// Selects the file system to mount.
    void select(String fileSystem) {
        try (Arena arena = Arena.ofConfined()) {
            call("selecting " + fileSystem, Function.SELECT_FILESYSTEM, arena.allocateFrom(fileSystem));
        }
    }

    /// Ends the session of another client with this uuid, if any, and makes the OSDs refuse that client; call
    /// before [#mount]. Ignores failures: the MDS daemons' timeout ends the session then.
    void endSession(String uuid) {
        try (Arena arena = Arena.ofConfined()) {
            var _ = callUnchecked(Function.START_RECLAIM, arena.allocateFrom(uuid), RESET);
            library.callAny(Function.FINISH_RECLAIM, handle);
        }
    }

    /// Mounts a directory of the selected file system.
    ///
    /// @param uuid of the session
    void mount(String root, String uuid) {
        try (Arena arena = Arena.ofConfined()) {
            library.callAny(Function.SET_UUID, handle, arena.allocateFrom(uuid));
            call("mounting " + root, Function.MOUNT, arena.allocateFrom(root));
        }
    }

    /// Sends a command to an MDS daemon and blocks until the reply.
    ///
    /// @param daemon its global id
    /// @param json the command
    /// @param reading reads the reply, which is freed afterwards
    <T> T command(long daemon, String json, java.util.function.Function<ByteBuffer, T> reading) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment commands = arena.allocate(ADDRESS);
            commands.set(ADDRESS, 0, arena.allocateFrom(json));
            MemorySegment output = arena.allocate(ADDRESS);
            MemorySegment outputLength = arena.allocate(JAVA_LONG);
            MemorySegment words = arena.allocate(ADDRESS);
            MemorySegment wordsLength = arena.allocate(JAVA_LONG);
            int returnCode = library.call(
                    Function.MDS_COMMAND,
                    handle,
                    arena.allocateFrom(Long.toString(daemon)),
                    commands,
                    1L,
                    MemorySegment.NULL,
                    0L,
                    output,
                    outputLength,
                    words,
                    wordsLength);
            String detail =
                    take(words, wordsLength, bytes -> text(bytes.slice(0, Math.min(bytes.limit(), MOST_WORDS))));
            return take(output, outputLength, bytes -> {
                if (returnCode < 0) {
                    throw failure(returnCode, "a command to the MDS with id " + daemon, detail);
                }
                return reading.apply(bytes);
            });
        }
    }

    @SuppressWarnings("restricted")
    private <T> T take(
            MemorySegment pointer, MemorySegment length, java.util.function.Function<ByteBuffer, T> reading) {
        MemorySegment buffer = pointer.get(ADDRESS, 0);
        if (buffer.address() == 0) {
            return reading.apply(ByteBuffer.allocate(0));
        }
        try {
            return reading.apply(buffer.reinterpret(length.get(JAVA_LONG, 0)).asByteBuffer());
        } finally {
            library.callAny(Function.BUFFER_FREE, buffer);
        }
    }

    private static String text(ByteBuffer bytes) {
        return StandardCharsets.UTF_8.decode(bytes).toString();
    }

    /// Calls a function of this client.
    ///
    /// @param what the operation, for messages
    /// @param arguments those after the handle
    /// @return the function's result, not negative
    int call(String what, Function function, Object... arguments) {
        int returnCode = callUnchecked(function, arguments);
        if (returnCode < 0) {
            throw failure(returnCode, what, "");
        }
        return returnCode;
    }

    /// Same as [#call], but returns negative errnos to the caller.
    int callUnchecked(Function function, Object... arguments) {
        Object[] all = new Object[arguments.length + 1];
        all[0] = handle;
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        return library.call(function, all);
    }

    /// Returns the position of the next read of an open directory.
    long position(MemorySegment directory) {
        long position = (long) library.callAny(Function.TELLDIR, handle, directory);
        if (position < 0) {
            throw failure((int) position, "reading a directory", "");
        }
        return position;
    }

    /// Continues reading an open directory at such a position.
    void seek(MemorySegment directory, long position) {
        library.callAny(Function.SEEKDIR, handle, directory, position);
    }

    /// Returns the exception for a negative return code without throwing it.
    DriverException failure(int returnCode, String what, String detail) {
        if (CephErrno.ESHUTDOWN.is(returnCode) || CephErrno.ENOTCONN.is(returnCode)) {
            cutOff = true;
        }
        return CephErrno.failure(returnCode, what, detail);
    }

    /// Returns whether the MDS has ended this client's session, so that only another client can continue.
    boolean isCutOff() {
        return cutOff;
    }

    /// Unmounts and frees the client; no call may be running.
    @Override
    public void close() {
        callUnchecked(Function.UNMOUNT);
        callUnchecked(Function.RELEASE);
    }
}
