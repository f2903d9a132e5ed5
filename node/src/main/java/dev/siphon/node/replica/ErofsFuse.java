package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.fuse.FuseProcesses;
import dev.siphon.node.fuse.FuseProgram;
import dev.siphon.node.fuse.FuseStart;
import dev.siphon.node.linux.ChildProcess;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.LoopDevice;
import dev.siphon.node.linux.MountEntry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import jnr.constants.platform.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Trees that erofsfuse reads, a process for each, which outlives this one unless both end with their container.
/// What it reads is the loop device, so that all else is as with the kernel's EROFS.
///
/// It is mounted as `fuseblk`: the kernel then holds the device as long as the tree is mounted anywhere, and the
/// tree's source and device number are the loop device's. The type ends with the attachment's tag, by which a
/// tree is known whose process has ended, and whose device may no longer answer.
final class ErofsFuse {
    /// What the kernel calls a FUSE that has a block device.
    static final String BLOCK_TYPE = "fuseblk";

    private static final Logger LOG = LoggerFactory.getLogger(ErofsFuse.class);
    private static final String TYPE = BLOCK_TYPE + ".";

    /// Below [ReplicaPolicy#callLimit], so that whoever waits is told why.
    private static final Duration START_LIMIT = Duration.ofSeconds(15);

    private static final Duration END_LIMIT = Duration.ofSeconds(5);

    private final FuseProcesses processes;

    /// @param processes run erofsfuse
    ErofsFuse(FuseProcesses processes) {
        this.processes = processes;
    }

    /// Mounts the tree of `key`. The device must not be mounted this way already, not even by a process that has
    /// ended: the kernel would show that mount again, and the new process would serve nobody.
    ///
    /// @throws DriverException.BackendFault (INTERNAL) if erofsfuse takes the image for none
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if it has not come up in time
    void mount(LoopDevice device, ImageMountKey key, Path tree) {
        ChildProcess.StartOutcome outcome = processes.start(
                new FuseStart(
                        FuseProgram.EROFSFUSE, key.tag(), tree, arguments(device.path(), key, tree), Optional.empty()),
                START_LIMIT);
        if (outcome.serving()) {
            return;
        }
        String what = "mounting a dataset at " + tree + " by " + FuseProgram.EROFSFUSE.command();
        if (!outcome.inTime()) {
            throw new DriverException.BackendUnavailable(what + " took longer than " + START_LIMIT.toSeconds()
                    + " s: what the image is read from does not answer");
        }
        throw new DriverException.BackendFault(what + " failed: " + QuotedText.of(outcome.output()));
    }

    /// Not made a daemon, for the reasons of docs/adr/0023.
    static List<String> arguments(String device, ImageMountKey key, Path tree) {
        return List.of(
                "-f",
                "-o",
                // blksize: as the device's, whose blocks are larger than the 512 bytes that fuseblk has by default
                "ro,nosuid,nodev,allow_other,default_permissions,blkdev,blksize=" + LoopDevice.BLOCK_BYTES + ",fsname="
                        + device + "," + FuseProgram.EROFSFUSE.option(key.tag()),
                device,
                tree.toString());
    }

    /// The tag of a tree that erofsfuse reads, or read; empty for other mounts.
    static Optional<String> tag(MountEntry entry) {
        return entry.type().startsWith(TYPE)
                ? Optional.of(entry.type().substring(TYPE.length()))
                        .filter(tag -> ImageMountKey.beginning(tag).isPresent())
                : Optional.empty();
    }

    /// Whether `entry` is such a tree of `dataset`.
    static boolean isOf(MountEntry entry, Digest dataset) {
        return tag(entry)
                .flatMap(ImageMountKey::beginning)
                .filter(dataset.beginning()::equals)
                .isPresent();
    }

    /// Whether `entry` is such a tree, whose process has ended: nobody can read it any more.
    static boolean isDead(MountEntry entry) {
        if (tag(entry).isEmpty()) {
            return false;
        }
        try (DirectoryHandle root = DirectoryHandle.open(entry.mountPoint())) {
            var _ = root.usage(); // what else it knows, the kernel may answer by itself
            return false;
        } catch (ErrnoException e) {
            if (e.is(Errno.ENOENT)) {
                return false; // it was unmounted meanwhile
            }
            if (e.is(Errno.ENOTCONN, Errno.ECONNABORTED)) {
                return true;
            }
            throw e;
        }
    }

    /// Waits, for a while, for the process of a tree that was unmounted: until then the device is there.
    void awaitEnd(MountEntry unmounted) {
        Optional<String> tag = tag(unmounted);
        if (tag.isPresent() && !processes.awaitEnd(FuseProgram.EROFSFUSE, tag.get(), END_LIMIT)) {
            LOG.atWarn()
                    .addKeyValue("mount", unmounted.mountPoint())
                    .addKeyValue("after_s", END_LIMIT.toSeconds())
                    .log("erofsfuse still runs after its tree was unmounted");
        }
    }
}
