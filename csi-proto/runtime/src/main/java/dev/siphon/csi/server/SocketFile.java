package dev.siphon.csi.server;

import java.io.IOException;
import java.net.ConnectException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;

/// The file of a listening unix socket, owned by this process.
///
/// bind(2) creates the file with the mode that the umask leaves, and Java cannot set a umask. With a later chmod,
/// anyone could connect for a moment. The server therefore binds inside a new directory of mode 0700, where no one
/// else reaches the socket. There the socket gets mode 0600, and rename(2) moves it into place, over a stale socket
/// if there is one. Peers connect to the socket, not to its name, so the rename does not affect the listener.
final class SocketFile {
    /// The longest name that binding needs next to the socket: a directory and the socket in it.
    static final String LONGEST_SIBLING = ".csi-00000000/s";

    private static final int S_IFMT = 0170000;
    private static final int S_IFSOCK = 0140000;

    private final Path path;
    private final Object inode;

    private SocketFile(Path path, Object inode) {
        this.path = path;
        this.inode = inode;
    }

    /// Binds a listener to a path that does not exist yet.
    @FunctionalInterface
    interface Binder {
        void bindTo(Path path) throws IOException;
    }

    /// Binds the listener with `binder`, and moves the socket to `path`.
    ///
    /// @throws StartFailure if `path` is something other than a socket, if a process answers on it, or if the
    ///     directory cannot be written
    static SocketFile bind(Path path, Binder binder) {
        Path parent = Objects.requireNonNull(path.getParent(), "an absolute path has a parent");
        try {
            refuseUnlessStale(path);
            Path room = parent.resolve(".csi-"
                    + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt()));
            Files.createDirectory(
                    room, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            Path bound = room.resolve("s");
            try {
                binder.bindTo(bound);
                Files.setPosixFilePermissions(bound, PosixFilePermissions.fromString("rw-------"));
                Object inode = inodeOf(bound);
                Files.move(bound, path, StandardCopyOption.ATOMIC_MOVE);
                return new SocketFile(path, inode);
            } finally {
                Files.deleteIfExists(bound);
                Files.delete(room);
            }
        } catch (NoSuchFileException e) {
            throw new StartFailure("the directory " + parent + " of the socket does not exist", e);
        } catch (IOException e) {
            throw new StartFailure("cannot listen on " + path, e);
        }
    }

    /// Removes the file, unless another process has replaced it.
    void unlink() throws IOException {
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS) && inodeOf(path).equals(inode)) {
            Files.delete(path);
        }
    }

    /// Checks whether `path` still leads to this socket.
    boolean isInPlace() {
        try {
            return inodeOf(path).equals(inode);
        } catch (IOException _) {
            return false;
        }
    }

    private static Object inodeOf(Path path) throws IOException {
        return Objects.requireNonNull(Files.getAttribute(path, "unix:ino", LinkOption.NOFOLLOW_LINKS));
    }

    private static void refuseUnlessStale(Path path) throws IOException {
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        int mode = (Integer) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        if ((mode & S_IFMT) != S_IFSOCK) {
            throw new StartFailure(path + " exists and is not a socket; it is left as it is");
        }
        // non-blocking: connect(2) would wait for a listener with a full backlog
        try (SocketChannel channel = SocketChannel.open(java.net.StandardProtocolFamily.UNIX)) {
            channel.configureBlocking(false);
            channel.connect(UnixDomainSocketAddress.of(path));
            throw new StartFailure("another process answers on " + path + "; stop it, or choose another endpoint");
        } catch (ConnectException _) {
            return; // refused: the file outlived its process
        }
    }
}
