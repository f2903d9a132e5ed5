package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.PathObstacle;
import dev.siphon.node.linux.SystemErrors;
import java.nio.file.Path;
import java.util.Optional;
import jnr.constants.platform.Errno;

/// Opens the directories that requests name. No part of a path may be a symbolic link: the driver checks the path
/// as text (where it is mounted, whether it belongs to the system), and a link would lead elsewhere. The kernel
/// rejects links while it walks the path, so nobody can insert one between check and use.
public final class HostPaths {
    private static final int MODE = 0750;

    private final Path stateDirectory;
    private final Mounters mounters;

    public HostPaths(Path stateDirectory, Mounters mounters) {
        this.stateDirectory = stateDirectory;
        this.mounters = mounters;
    }

    /// Opens the empty directory at `path`, to mount on.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is missing, not a directory, inside a volume
    ///     or in the driver's own directory, or if a part of the path is a symbolic link
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it is not empty: a mount would hide its files
    public DirectoryHandle openEmpty(TargetPath path) {
        checkPlace(path, MountTable.read());
        return openChecked(path);
    }

    private static DirectoryHandle openChecked(TargetPath path) {
        DirectoryHandle directory = open(path, path.text());
        try {
            if (!directory.names(1).isEmpty()) {
                throw new DriverException.InUse(path + " is not empty; what is in it would be hidden");
            }
            return directory;
        } catch (RuntimeException e) {
            directory.close();
            throw e;
        }
    }

    /// Same as [#openEmpty], but creates the directory if only its last part is missing.
    public DirectoryHandle makeEmpty(TargetPath path) {
        return makeEmpty(path, MountTable.read());
    }

    /// Same as [#makeEmpty], with a table that was read before.
    DirectoryHandle makeEmpty(TargetPath path, MountTable mounts) {
        checkPlace(path, mounts);
        try (DirectoryHandle parent = open(path, path.parent())) {
            parent.makeDirectory(path.name(), MODE);
        } catch (ErrnoException e) {
            throw SystemErrors.translate("making " + path, e);
        }
        return openChecked(path);
    }

    /// Opens the parent directory of `path`; returns empty if it does not exist.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if a part of it is a symbolic link or not a
    ///     directory
    public Optional<DirectoryHandle> openParent(TargetPath path) {
        try {
            return Optional.of(DirectoryHandle.open(path.parent()));
        } catch (ErrnoException e) {
            if (e.is(Errno.ENOENT)) {
                return Optional.empty();
            }
            throw refused(path, path.parent(), e);
        }
    }

    /// Removes the empty directory at `path`. Succeeds if it does not exist.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is not a directory; it stays
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it is not empty or a mount is on it; it stays
    public void remove(TargetPath path) {
        Optional<DirectoryHandle> found = openParent(path);
        if (found.isEmpty()) {
            return;
        }
        try (DirectoryHandle parent = found.get()) {
            parent.removeDirectory(path.name());
        } catch (ErrnoException e) {
            throw switch (e.errno()) {
                case ENOTDIR ->
                    new DriverException.InvalidRequest(path + " is not a directory; this driver did not make it");
                case ENOTEMPTY, EEXIST, EBUSY ->
                    new DriverException.InUse(path + " cannot be removed: it is not empty, or a mount is on it");
                default -> SystemErrors.translate("removing " + path, e);
            };
        }
    }

    private void checkPlace(TargetPath path, MountTable mounts) {
        if (path.overlaps(stateDirectory.toString())) {
            throw new DriverException.InvalidRequest(path + " is the driver's own directory");
        }
        boolean inVolume =
                mounts.holding(path.parent()).flatMap(mounters::recognize).isPresent();
        if (inVolume) {
            throw new DriverException.InvalidRequest(path + " lies inside a volume");
        }
    }

    private static DirectoryHandle open(TargetPath path, String text) {
        try {
            return DirectoryHandle.open(text);
        } catch (ErrnoException e) {
            throw refused(path, text, e);
        }
    }

    private static DriverException refused(TargetPath path, String opened, ErrnoException e) {
        return switch (e.errno()) {
            case ELOOP, ENOTDIR, ENOENT, ENAMETOOLONG ->
                new DriverException.InvalidRequest(path + " cannot be used: " + PathObstacle.describe(opened));
            default -> SystemErrors.translate("opening " + path, e);
        };
    }
}
