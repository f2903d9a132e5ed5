package dev.siphon.node.mount;

import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.MountSyscalls;
import dev.siphon.node.linux.MountTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import jnr.constants.platform.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The directories at which clients are mounted before their data is bound to its target. They belong to the
/// driver; no workload sees them.
///
/// The kernel client needs its root only until the bind exists. ceph-fuse needs it while it lives: it remounts that
/// path to give back capabilities, and exits after five failures (`client_max_retries_on_remount_failure`). So a
/// root stays until its file system is mounted nowhere else. The mount table shows that, even after a restart.
public final class ClientRoots {
    private static final Logger LOG = LoggerFactory.getLogger(ClientRoots.class);

    private final Path stateDirectory;
    private final Path directory;
    private final Set<Path> beingMade = ConcurrentHashMap.newKeySet();

    /// @param stateDirectory the driver's own directory, used by one process at a time
    /// @param name the subdirectory that holds the roots and nothing else
    public ClientRoots(Path stateDirectory, String name) {
        this.stateDirectory = stateDirectory;
        this.directory = stateDirectory.resolve(name);
    }

    /// A directory to mount a client at.
    public final class Root implements AutoCloseable {
        private final Path path;

        private Root(Path path) {
            this.path = path;
        }

        public Path path() {
            return path;
        }

        /// Ends the setup: removes the root unless something is bound from it.
        @Override
        public void close() {
            beingMade.remove(path);
            sweep();
        }

        /// Unmounts and removes the root even if something is bound from it.
        public void detach() {
            discard(path);
        }
    }

    /// Creates a new, empty root.
    public Root create() {
        Path path = directory.resolve(UUID.randomUUID().toString());
        beingMade.add(path);
        try {
            Files.createDirectory(path);
        } catch (IOException e) {
            beingMade.remove(path);
            throw new UncheckedIOException("cannot make a mount point in the state directory", e);
        }
        return new Root(path);
    }

    /// Removes the roots that nothing is bound from: those of unmounted volumes, and those that a killed process
    /// left. A client of a killed process may come up after this process starts. So the driver sweeps on every
    /// change, not only at start.
    public void sweep() {
        List<Path> made = new ArrayList<>();
        try (DirectoryStream<Path> paths = Files.newDirectoryStream(directory)) {
            paths.forEach(path -> {
                if (!beingMade.contains(path)) {
                    made.add(path);
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the state directory", e);
        }
        // read the table after listing the released roots, so that it holds all of their binds
        MountTable table = MountTable.read();
        for (Path path : made) {
            boolean needed = table.at(path.toString())
                    .filter(root -> isShown(table, root.device()))
                    .isPresent();
            if (!needed) {
                discard(path);
            }
        }
    }

    /// Whether a superblock is mounted anywhere outside the driver's own directory.
    public boolean isShown(MountTable table, String device) {
        return table.entries().stream().anyMatch(entry -> entry.device().equals(device) && !isOwn(entry.mountPoint()));
    }

    /// Whether `mountPoint` is in the driver's own directory.
    public boolean isOwn(String mountPoint) {
        return mountPoint.startsWith(stateDirectory + "/");
    }

    private static void discard(Path path) {
        try {
            MountSyscalls.unmount(path.toString(), MountSyscalls.Unmount.DETACH);
        } catch (ErrnoException e) {
            if (!e.is(Errno.EINVAL, Errno.ENOENT)) {
                LOG.atWarn().addKeyValue("path", path).setCause(e).log("cannot unmount the root of a client");
            }
        }
        try {
            Files.deleteIfExists(path);
        } catch (DirectoryNotEmptyException _) {
            // a client is coming up just now; the next sweep removes it
            LOG.atWarn().addKeyValue("path", path).log("the root of a client is not empty");
        } catch (IOException e) {
            LOG.atWarn().addKeyValue("path", path).setCause(e).log("cannot remove the root of a client");
        }
    }
}
