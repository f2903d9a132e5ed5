package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.linux.DetachedMount;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountFlag;
import dev.siphon.node.linux.MountSyscalls;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.SystemErrors;
import dev.siphon.node.mount.MountCheck.MountHealth;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import jnr.constants.platform.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Finds, binds and unmounts volumes in the mount table, whatever state they are in.
final class VolumeMounts {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeMounts.class);

    /// More than any caller stacks on one path; ends the loop if the table does not shrink.
    private static final int MAX_STACKED = 16;

    /// Our own health check may keep a mount busy for a moment.
    private static final int MAX_TRIES = 3;

    private final Mounters mounters;
    private final MountCheck check;
    private final HostPaths paths;
    private final ClientRoots roots;

    VolumeMounts(Mounters mounters, MountCheck check, HostPaths paths, ClientRoots roots) {
        this.mounters = mounters;
        this.check = check;
        this.paths = paths;
        this.roots = roots;
    }

    /// Returns the mount of `volume` at `path`; empty if nothing is mounted there.
    ///
    /// @throws DriverException.IncompatibleExisting (ALREADY_EXISTS) if another volume is mounted there
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the mount there is not of this driver
    Optional<Mounters.Recognized> find(VolumeId volume, TargetPath path) {
        return find(MountTable.read(), volume, path);
    }

    /// Same as [#find], in a table that was read before.
    Optional<Mounters.Recognized> find(MountTable table, VolumeId volume, TargetPath path) {
        Optional<Mounters.Recognized> found = recognize(table, path);
        if (found.filter(mount -> !mount.is(volume)).isPresent()) {
            throw new DriverException.IncompatibleExisting("another volume is mounted at " + path);
        }
        return found;
    }

    /// Same as [#find], but accepts another volume.
    private Optional<Mounters.Recognized> recognize(MountTable table, TargetPath path) {
        Optional<MountEntry> entry = table.at(path.text());
        Optional<Mounters.Recognized> found = entry.flatMap(mounters::recognize);
        if (entry.isPresent() && found.isEmpty()) {
            throw new DriverException.InUse("the mount at " + path + " is not a volume of this driver, but "
                    + entry.get().type());
        }
        return found;
    }

    /// Same as [#find], but first unmounts mounts that do not respond.
    Optional<Mounters.Recognized> findAlive(VolumeId volume, TargetPath path) {
        return findAlive(MountTable.read(), volume, path);
    }

    /// Same as [#findAlive], in a table that was read before.
    Optional<Mounters.Recognized> findAlive(MountTable before, VolumeId volume, TargetPath path) {
        MountTable table = before;
        for (int i = 0; i < MAX_STACKED; i++) {
            Optional<Mounters.Recognized> found = find(table, volume, path);
            if (found.isEmpty()) {
                return found;
            }
            switch (check.check(volume, found.get().entry())) {
                case MountHealth.Alive _ -> {
                    return found;
                }
                case MountHealth.Dead dead -> detach(found.get(), path, true, dead.why());
                case MountHealth.Hung hung -> detach(found.get(), path, false, hung.why());
            }
            table = MountTable.read();
        }
        throw new DriverException.InUse("too many mounts on top of each other at " + path);
    }

    /// Returns the kind of a mount; empty if it is not of this driver.
    Optional<MountKind> kindOf(MountEntry entry) {
        return mounters.recognize(entry).map(Mounters.Recognized::kind);
    }

    /// Checks whether `mount` responds.
    MountHealth checkHealth(VolumeId volume, Mounters.Recognized mount) {
        return check.check(volume, mount.entry());
    }

    /// Returns the other mount points of the volume that show the same directory as `mount`, except those in
    /// `except` and the driver's own.
    List<String> placesBeside(Mounters.Recognized mount, VolumeId volume, List<TargetPath> except) {
        List<String> known = except.stream().map(TargetPath::text).toList();
        List<String> places = new ArrayList<>();
        for (MountEntry entry : MountTable.read().entries()) {
            boolean same = entry.root().equals(mount.entry().root())
                    && mounters.recognize(entry).filter(m -> m.is(volume)).isPresent();
            if (same && !known.contains(entry.mountPoint()) && !roots.isOwn(entry.mountPoint())) {
                places.add(entry.mountPoint());
            }
        }
        return places;
    }

    /// Whether any mount of the file system of `staged` is id-mapped.
    boolean isIdmapped(MountEntry staged) {
        return MountTable.read().entries().stream()
                .anyMatch(entry -> entry.device().equals(staged.device()) && entry.isIdmapped());
    }

    /// Binds `directory` to `target` with exactly these flags.
    void bind(DirectoryHandle directory, DirectoryHandle target, Set<MountFlag> flags) {
        try (DetachedMount mount = directory.cloneMount()) {
            mount.restrict(flags);
            mount.attach(target);
        }
    }

    /// Unmounts every mount of `volume` at `path`. Another volume's mount there stays: the requested volume is
    /// already gone.
    ///
    /// @param limit the time for the client to write its data after its last unmount
    /// @return whether nothing is mounted at `path` any more
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a process uses the mount
    boolean unmountAll(VolumeId volume, TargetPath path, Duration limit) {
        for (int i = 0; i < MAX_STACKED; i++) {
            Optional<Mounters.Recognized> found = recognize(MountTable.read(), path);
            if (found.isEmpty()) {
                return true;
            }
            if (!found.get().is(volume)) {
                LOG.atWarn()
                        .addKeyValue("volume_id", volume)
                        .addKeyValue("path", path.text())
                        .log("another volume is mounted here; left as it is");
                return false;
            }
            unmount(volume, found.get(), path, limit);
        }
        throw new DriverException.InUse("too many mounts on top of each other at " + path);
    }

    private void unmount(VolumeId volume, Mounters.Recognized mount, TargetPath path, Duration limit) {
        for (int i = 0; i < MAX_TRIES; i++) {
            if (umountIfIdle(path)) {
                awaitEndOfLast(mount, limit);
                return;
            }
            // busy: by users of a mount that does not respond, or for a moment by our own check
            switch (check.check(volume, mount.entry())) {
                case MountHealth.Alive _ -> {}
                case MountHealth.Dead dead -> {
                    detach(mount, path, true, dead.why());
                    return;
                }
                case MountHealth.Hung hung -> {
                    detach(mount, path, false, hung.why());
                    return;
                }
            }
        }
        throw new DriverException.InUse("volume " + volume + " is in use at " + path);
    }

    private boolean umountIfIdle(TargetPath path) {
        try {
            umount(path);
            return true;
        } catch (ErrnoException e) {
            if (e.is(Errno.EBUSY)) {
                return false;
            }
            throw SystemErrors.translate("unmounting " + path, e);
        }
    }

    private void awaitEndOfLast(Mounters.Recognized mount, Duration limit) {
        if (!roots.isShown(MountTable.read(), mount.entry().device())) {
            roots.sweep();
            mount.kind().awaitEnd(mount.entry(), limit);
        }
    }

    private void detach(Mounters.Recognized mount, TargetPath path, boolean dead, String why) {
        LOG.atWarn()
                .addKeyValue("path", path.text())
                .addKeyValue("why", why)
                .log("unmounting a mount that does not answer");
        try {
            if (isLast(mount, path) && mount.kind().mayForce(dead)) {
                umount(path, MountSyscalls.Unmount.DETACH, MountSyscalls.Unmount.FORCE);
            } else {
                umount(path, MountSyscalls.Unmount.DETACH);
            }
        } catch (ErrnoException e) {
            throw SystemErrors.translate("unmounting " + path, e);
        }
        roots.sweep();
    }

    /// Whether the file system of `mount` is mounted nowhere else, except in the driver's own directory.
    private boolean isLast(Mounters.Recognized mount, TargetPath path) {
        return MountTable.read().entries().stream()
                .noneMatch(entry -> entry.device().equals(mount.entry().device())
                        && !entry.mountPoint().equals(path.text())
                        && !roots.isOwn(entry.mountPoint()));
    }

    private void umount(TargetPath path, MountSyscalls.Unmount... how) {
        try (DirectoryHandle parent = paths.openParent(path)
                .orElseThrow(() -> new DriverException.NotFound(path + " has no parent directory"))) {
            parent.unmount(path.name(), how);
        } catch (ErrnoException e) {
            if (!e.is(Errno.EINVAL)) { // EINVAL: already unmounted
                throw e;
            }
        }
    }
}
