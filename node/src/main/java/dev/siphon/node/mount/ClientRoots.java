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

/// Where clients are mounted before the wanted directory is bound to where it is wanted: a directory of the
/// driver's own, which no workload sees.
///
/// The kernel's client needs its root only until the bind is made. ceph-fuse needs it as long as it lives: to
/// give back capabilities it remounts that path, and when that has failed five times it ends itself
/// (`client_max_retries_on_remount_failure`). So a root stays until nothing outside shows its file system any
/// more, which the mount table tells, also after a restart.
public final class ClientRoots {
    private static final Logger LOG = LoggerFactory.getLogger(ClientRoots.class);

    private final Path stateDirectory;
    private final Path directory;
    private final Set<Path> beingMade = ConcurrentHashMap.newKeySet();

    /// @param stateDirectory the driver's own; one process at a time
    /// @param name theirs alone in it
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

        /// Ends the making: the root stays if something is bound from it.
        @Override
        public void close() {
            beingMade.remove(path);
            sweep();
        }

        /// Takes the root away although something is bound from it.
        public void detach() {
            discard(path);
        }
    }

    /// A new, empty root.
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

    /// Takes away the roots that nothing is bound from: those of volumes that were unmounted, and those of a run
    /// that was killed while it mounted. A client that such a run had started may come up after this process did,
    /// so this is called at every change as well as at the start.
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
        // read after it is known what is finished, so that every bind of those is in it
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

    /// Whether a superblock is mounted anywhere but in the driver's own directory.
    public boolean isShown(MountTable table, String device) {
        return table.entries().stream().anyMatch(entry -> entry.device().equals(device) && !isOwn(entry.mountPoint()));
    }

    /// Whether `mountPoint` is in the driver's own directory, where no workload sees it.
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
            // a client that comes up just now: the next sweep finds it
            LOG.atWarn().addKeyValue("path", path).log("the root of a client is not empty");
        } catch (IOException e) {
            LOG.atWarn().addKeyValue("path", path).setCause(e).log("cannot remove the root of a client");
        }
    }
}
