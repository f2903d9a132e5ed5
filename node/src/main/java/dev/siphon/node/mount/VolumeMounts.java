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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import jnr.constants.platform.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Volumes in the mount table: finding, binding and unmounting them, whatever state they are found in.
final class VolumeMounts {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeMounts.class);

    /// More than any caller stacks on one path; a table that does not get shorter must not keep us for ever.
    private static final int MAX_STACKED = 16;

    /// A mount that is in use by nobody but our own looks at it is soon free.
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

    /// The mount of `volume` that is seen at `path`, empty if nothing is mounted there.
    ///
    /// @throws DriverException.IncompatibleExisting (ALREADY_EXISTS) if another volume is mounted there
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if something is that is no volume of this driver
    Optional<Mounters.Recognized> find(VolumeId volume, TargetPath path) {
        Optional<Mounters.Recognized> found = recognize(path);
        if (found.filter(mount -> !mount.is(volume)).isPresent()) {
            throw new DriverException.IncompatibleExisting("another volume is mounted at " + path);
        }
        return found;
    }

    /// As [#find], when `volume` need not be the one.
    private Optional<Mounters.Recognized> recognize(TargetPath path) {
        Optional<MountEntry> entry = MountTable.read().at(path.text());
        Optional<Mounters.Recognized> found = entry.flatMap(mounters::recognize);
        if (entry.isPresent() && found.isEmpty()) {
            throw new DriverException.InUse("what is mounted at " + path + " is no volume of this driver, but "
                    + entry.get().type());
        }
        return found;
    }

    /// As [#find], without what no longer answers: that is taken away first.
    Optional<Mounters.Recognized> findAlive(VolumeId volume, TargetPath path) {
        for (int i = 0; i < MAX_STACKED; i++) {
            Optional<Mounters.Recognized> found = find(volume, path);
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
        }
        throw new DriverException.InUse("too many mounts on top of each other at " + path);
    }

    /// What ends a mount, if it is this driver's.
    Optional<MountKind> kindOf(MountEntry entry) {
        return mounters.recognize(entry).map(Mounters.Recognized::kind);
    }

    /// Whether `mount` answers.
    MountHealth checkHealth(VolumeId volume, Mounters.Recognized mount) {
        return check.check(volume, mount.entry());
    }

    /// Every other place where the directory is seen that `mount` shows.
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

    /// Whether the client of `staged` is shown anywhere with other owners of files than it has.
    boolean isIdmapped(MountEntry staged) {
        return MountTable.read().entries().stream()
                .anyMatch(entry -> entry.device().equals(staged.device()) && entry.isIdmapped());
    }

    /// Shows `directory` at `target` with exactly `flags`.
    void bind(DirectoryHandle directory, DirectoryHandle target, Set<MountFlag> flags) {
        try (DetachedMount mount = directory.cloneMount()) {
            mount.restrict(flags);
            mount.attach(target);
        }
    }

    /// Takes every mount of `volume` away from `path`. Another volume's mount is left: then this volume is not
    /// there, which is what was asked for.
    ///
    /// @param limit for the client to write what it holds, when its last mount went
    /// @return whether nothing is mounted at `path` any more
    boolean unmountAll(VolumeId volume, TargetPath path, Duration limit) {
        for (int i = 0; i < MAX_STACKED; i++) {
            Optional<Mounters.Recognized> found = recognize(path);
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
            // in use by whoever waits for a mount that does not answer, or for a moment by our own look at
            // it
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
                .log("taking away a mount that does not answer");
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

    /// Whether no workload and no staging path but this one shows the file system of `mount`.
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
            if (!e.is(Errno.EINVAL)) { // EINVAL: gone meanwhile
                throw e;
            }
        }
    }
}
