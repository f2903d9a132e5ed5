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

/// Runs one erofsfuse process per tree. The process outlives the driver, unless both end with their container. It
/// reads the loop device, so all else works as with the kernel's EROFS.
///
/// The mount type is `fuseblk`. So the kernel holds the device while the tree is mounted anywhere, and the tree's
/// source and device number are the loop device's. The type ends with the image mount's tag. The tag identifies a
/// tree even after its process has ended and its device no longer responds.
final class ErofsFuse {
    /// The kernel's type for a FUSE mount with a block device.
    static final String BLOCK_TYPE = "fuseblk";

    private static final Logger LOG = LoggerFactory.getLogger(ErofsFuse.class);
    private static final String TYPE = BLOCK_TYPE + ".";

    /// Below [ReplicaPolicy#callLimit], so that the caller learns the cause.
    private static final Duration START_LIMIT = Duration.ofSeconds(15);

    private static final Duration END_LIMIT = Duration.ofSeconds(5);

    private final FuseProcesses processes;

    /// @param processes starts erofsfuse, and waits for its end
    ErofsFuse(FuseProcesses processes) {
        this.processes = processes;
    }

    /// Mounts the tree of `key`. The device must not already be mounted this way, not even by an ended process.
    /// Otherwise the kernel would show that mount again, and the new process would serve nothing.
    ///
    /// @throws DriverException.BackendFault (INTERNAL) if erofsfuse rejects the image
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if erofsfuse does not start in time
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

    /// Keeps erofsfuse in the foreground, for the reasons in docs/adr/0023.
    static List<String> arguments(String device, ImageMountKey key, Path tree) {
        return List.of(
                "-f",
                "-o",
                // blksize: the device's block size, which is larger than fuseblk's default of 512 bytes
                "ro,nosuid,nodev,allow_other,default_permissions,blkdev,blksize=" + LoopDevice.BLOCK_BYTES + ",fsname="
                        + device + "," + FuseProgram.EROFSFUSE.option(key.tag()),
                device,
                tree.toString());
    }

    /// Returns the tag of a tree that erofsfuse reads or read; empty for other mounts.
    static Optional<String> tag(MountEntry entry) {
        return entry.type().startsWith(TYPE)
                ? Optional.of(entry.type().substring(TYPE.length()))
                        .filter(tag -> ImageMountKey.beginning(tag).isPresent())
                : Optional.empty();
    }

    /// Returns whether `entry` is such a tree of `dataset`.
    static boolean isOf(MountEntry entry, Digest dataset) {
        return tag(entry)
                .flatMap(ImageMountKey::beginning)
                .filter(dataset.beginning()::equals)
                .isPresent();
    }

    /// Returns whether `entry` is such a tree and its process has ended, so that it cannot be read.
    static boolean isDead(MountEntry entry) {
        if (tag(entry).isEmpty()) {
            return false;
        }
        try (DirectoryHandle root = DirectoryHandle.open(entry.mountPoint())) {
            var _ = root.usage(); // statfs needs the process; other calls may be served from the kernel's cache
            return false;
        } catch (ErrnoException e) {
            if (e.is(Errno.ENOENT)) {
                return false; // unmounted meanwhile
            }
            if (e.is(Errno.ENOTCONN, Errno.ECONNABORTED)) {
                return true;
            }
            throw e;
        }
    }

    /// Waits up to 5 s for the process of an unmounted tree to end: until then it holds the device.
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
