package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.linux.BlockDevices;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.FileSystemUsage;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountTable;
import java.time.Duration;
import java.util.Optional;
import jnr.constants.platform.Errno;

/// Checks whether mounts respond, and reads how full they are.
///
/// A check costs a client two round trips, one to a monitor and one to the MDS. The numbers cost up to eight more to
/// the MDS, because each attribute of a directory is one: only NodeGetVolumeStats and the like read them.
public final class MountCheck {
    private static final String MAX_BYTES = "ceph.quota.max_bytes";

    private final BlockingCalls calls;
    private final Duration limit;
    private final ClientRoots roots;

    /// The result of a mount's health check.
    public sealed interface MountHealth {
        /// It responds.
        ///
        /// @param fileSystem the numbers of statfs(2)
        record Alive(FileSystemUsage fileSystem) implements MountHealth {}

        /// It returns an error: its client has died, or the cluster has evicted it.
        record Dead(String why) implements MountHealth {}

        /// It did not respond in time: its client hangs or waits for the cluster.
        record Hung(String why) implements MountHealth {}

        /// Describes the health, for messages.
        default String describe(VolumeId id) {
            return switch (this) {
                case Alive _ -> "the mount of volume " + id + " answers";
                case Dead dead -> "the mount of volume " + id + " is dead: " + dead.why();
                case Hung hung -> "the mount of volume " + id + " does not answer: " + hung.why();
            };
        }
    }

    /// @param limit how long a mount may take to respond before it counts as hung
    /// @param roots where the account's directory is mounted beside the volume's
    public MountCheck(BlockingCalls calls, Duration limit, ClientRoots roots) {
        this.calls = calls;
        this.limit = limit;
        this.roots = roots;
    }

    /// Checks `mount` of volume `id`.
    public MountHealth check(VolumeId id, MountEntry mount) {
        return check(id, mount, limit);
    }

    /// Same as [#check(VolumeId, MountEntry)], but waits at most `remaining`. A mount reported as hung may then
    /// only be slow, so callers must not change anything because of it.
    public MountHealth check(VolumeId id, MountEntry mount, Duration remaining) {
        try {
            return calls.check(id.toString(), "mount " + mount.id(), patience(remaining), () -> check(mount));
        } catch (DriverException.DeadlinePassed | DriverException.BackendUnavailable e) {
            return new MountHealth.Hung(String.valueOf(e.getMessage()));
        }
    }

    /// Returns how full `mount` of volume `id` is. Checks it first, so that a mount that hangs does not hold a second
    /// call.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if it is dead or hung
    /// @throws DriverException.NotFound (NOT_FOUND) if it was unmounted meanwhile
    public VolumeUsage usage(VolumeId id, MountEntry mount, Duration remaining) {
        long end = System.nanoTime() + patience(remaining).toNanos();
        MountHealth health = check(id, mount, remaining);
        if (!(health instanceof MountHealth.Alive(var fileSystem))) {
            throw unavailable(id, health);
        }
        try {
            return calls.check(
                    "usage of " + id, // its hung calls must not count against those of the check
                    "usage of mount " + mount.id(),
                    Duration.ofNanos(end - System.nanoTime()),
                    () -> usage(id, mount, fileSystem));
        } catch (DriverException.DeadlinePassed | DriverException.BackendUnavailable e) {
            throw unavailable(id, new MountHealth.Hung(String.valueOf(e.getMessage())));
        } catch (ErrnoException e) {
            throw unavailable(id, new MountHealth.Dead(String.valueOf(e.getMessage())));
        }
    }

    private static DriverException unavailable(VolumeId id, MountHealth health) {
        return new DriverException.BackendUnavailable(health.describe(id));
    }

    private Duration patience(Duration remaining) {
        return remaining.compareTo(limit) < 0 ? remaining : limit;
    }

    private static MountHealth check(MountEntry mount) {
        try (DirectoryHandle directory = DirectoryHandle.open(mount.mountPoint())) {
            if (directory.mountId() != mount.id()) {
                return new MountHealth.Dead("it was unmounted meanwhile");
            }
            // statfs asks a monitor, the rest the MDS: a client may have lost either
            FileSystemUsage fileSystem = directory.usage();
            directory.refresh();
            // ceph-fuse answers the line above from its cache, but this attribute never (`Client::_getxattr` of
            // `src/client`). The MDS takes no lock for it
            var _ = directory.attribute(MAX_BYTES);
            return new MountHealth.Alive(fileSystem);
        } catch (ErrnoException e) {
            return new MountHealth.Dead(String.valueOf(e.getMessage()));
        }
    }

    private VolumeUsage usage(VolumeId id, MountEntry mount, FileSystemUsage fileSystem) {
        try (DirectoryHandle directory = DirectoryHandle.open(mount.mountPoint())) {
            if (directory.mountId() != mount.id()) {
                throw new DriverException.NotFound(
                        "volume " + id + " was unmounted at " + mount.mountPoint() + " meanwhile");
            }
            return VolumeUsage.of(numbers(directory), account(mount), sized(mount, fileSystem));
        }
    }

    /// Replaces the zero size that erofsfuse reports, as it has no statfs: the file system is full, with the size
    /// of its device.
    private static FileSystemUsage sized(MountEntry mount, FileSystemUsage said) {
        if (said.totalBytes() > 0) {
            return said;
        }
        long size = BlockDevices.bytes(mount.device());
        return new FileSystemUsage(size, 0, size);
    }

    /// Returns the numbers of the client's root, which is the account's directory. The kernel client's root is
    /// gone, but its statfs(2) reports the account's quota everywhere. That of ceph-fuse reports the nearest quota,
    /// which is the volume's.
    private VolumeUsage.DirectoryNumbers account(MountEntry mount) {
        Optional<MountEntry> root = MountTable.read().entries().stream()
                .filter(entry ->
                        roots.isOwn(entry.mountPoint()) && entry.device().equals(mount.device()))
                .findFirst();
        if (root.isEmpty()) {
            return VolumeUsage.DirectoryNumbers.NONE;
        }
        try (DirectoryHandle directory = DirectoryHandle.open(root.get().mountPoint())) {
            directory.refresh();
            return numbers(directory);
        } catch (ErrnoException e) {
            if (e.is(Errno.ENOENT)) {
                return VolumeUsage.DirectoryNumbers.NONE; // removed meanwhile, with the last bind
            }
            throw e;
        }
    }

    private static VolumeUsage.DirectoryNumbers numbers(DirectoryHandle directory) {
        return new VolumeUsage.DirectoryNumbers(
                quota(directory, MAX_BYTES),
                quota(directory, "ceph.quota.max_files"),
                number(directory, "ceph.dir.rbytes"),
                number(directory, "ceph.dir.rentries"));
    }

    /// Reads a quota; zero means none.
    private static Optional<Long> quota(DirectoryHandle directory, String name) {
        return number(directory, name).filter(limit -> limit > 0);
    }

    private static Optional<Long> number(DirectoryHandle directory, String name) {
        return directory
                .attribute(name)
                .filter(text -> text.matches("[0-9]{1,18}"))
                .map(Long::valueOf);
    }
}
