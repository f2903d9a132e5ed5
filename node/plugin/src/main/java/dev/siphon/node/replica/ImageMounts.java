package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.ManifestOutline;
import dev.siphon.node.linux.DataFile;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.FileIdentity;
import dev.siphon.node.linux.LoopDevice;
import dev.siphon.node.linux.LoopStatus;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountFlag;
import dev.siphon.node.linux.MountSyscalls;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.SystemErrors;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import jnr.constants.platform.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Mounts trees over loop devices. It holds no state of its own; the kernel has it all. A device's tag names its
/// image mount, and its backing file shows where it reads from. The device disappears with its last mount. So a
/// process killed between two steps leaves at most an unused directory, and the next process finds every tree.
///
/// Every method may hang with the file system behind the device.
final class ImageMounts {
    private static final Logger LOG = LoggerFactory.getLogger(ImageMounts.class);
    static final String TYPE = "erofs";
    static final Pattern SOURCE = Pattern.compile("/dev/loop([0-9]{1,9})");
    private static final Set<MountFlag> FLAGS = Set.of(MountFlag.READ_ONLY, MountFlag.NO_SUID, MountFlag.NO_DEV);

    private final ImageMountDirectories folders;
    private final ErofsSelection erofs;
    private final ErofsFuse fuse;

    /// @param erofs chooses the reader of new trees; existing trees are found whatever reads them
    ImageMounts(ImageMountDirectories folders, ErofsSelection erofs) {
        this.folders = folders;
        this.erofs = erofs;
        this.fuse = new ErofsFuse(erofs.processes());
    }

    /// Returns whether `entry` has the type of a tree.
    static boolean isTree(MountEntry entry) {
        return entry.type().equals(TYPE) || ErofsFuse.tag(entry).isPresent();
    }

    /// Finds the image mount of `key`, if its tree is mounted. Unmounts a tree whose process has ended, and returns
    /// empty for it.
    Optional<MountResult> find(ImageMountKey key) {
        return open(key).map(device -> {
            try (device) {
                return new MountResult(folders.tree(key), device.status(), false);
            }
        });
    }

    /// Opens only this one device: others may hang with their file systems.
    private Optional<LoopDevice> open(ImageMountKey key) {
        Path tree = folders.tree(key);
        Optional<MountEntry> mounted = MountTable.read().at(tree.toString());
        if (mounted.isEmpty()) {
            return Optional.empty();
        }
        if (ErofsFuse.isDead(mounted.get())) {
            LOG.atWarn().addKeyValue("dataset", key.digest()).log("the process that read a dataset has ended");
            unmount(key, MountSyscalls.Unmount.DETACH);
            return Optional.empty();
        }
        Matcher source = SOURCE.matcher(mounted.get().source());
        Optional<LoopDevice> device =
                source.matches() ? LoopDevice.open(Integer.parseInt(source.group(1))) : Optional.empty();
        if (device.isPresent()) {
            LoopStatus status = device.get().status();
            if (status.device().equals(mounted.get().device()) && status.tag().equals(key.tag())) {
                return device;
            }
            device.get().close();
        }
        throw new DriverException.BackendFault(
                tree + " is mounted, but not from a device of the dataset: unmount it by hand");
    }

    /// Returns whether the tree of `key` is mounted and readable.
    boolean isAlive(ImageMountKey key) {
        return MountTable.read()
                .at(folders.tree(key).toString())
                .filter(tree -> !ErofsFuse.isDead(tree))
                .isPresent();
    }

    /// Mounts the tree over the image, or over the existing device. Repeating it changes nothing.
    ///
    /// @param image the image; `manifest` was read from beside it
    MountResult attach(ImageMountKey key, DatasetImage image, ManifestOutline manifest) {
        return attach(key, image, image.image(), manifest);
    }

    /// Does the same over another file than the image, which need not be there.
    ///
    /// @param file the image, or a replica of it
    MountResult attach(ImageMountKey key, DatasetImage image, Path file, ManifestOutline manifest) {
        Optional<MountResult> found = find(key);
        if (found.isPresent()) {
            return found.get();
        }
        ErofsSelection.ErofsReader reader = erofs.choose();
        folders.make(key, image);
        Optional<LoopDevice> existing = reader == ErofsSelection.ErofsReader.KERNEL ? existing(key) : Optional.empty();
        try (LoopDevice device = existing.orElseGet(() -> ImageDevice.make(key, file, manifest))) {
            switch (reader) {
                case KERNEL -> mount(device, folders.tree(key));
                case PROGRAM -> fuse.mount(device, key, folders.tree(key));
            }
            boolean fresh = existing.isEmpty() && file.equals(image.image());
            return new MountResult(folders.tree(key), device.status(), fresh);
        }
    }

    /// Finds the device of a tree mounted in an earlier mount namespace, while volumes still show it.
    private Optional<LoopDevice> existing(ImageMountKey key) {
        MountTable table = MountTable.read();
        Set<String> others = ofOthers(table, key.digest());
        // the kernel's EROFS cannot mount a device that erofsfuse uses or used
        table.entries().stream()
                .filter(entry -> ErofsFuse.tag(entry).isPresent())
                .map(MountEntry::device)
                .forEach(others::add);
        if (table.entries().stream()
                .noneMatch(entry -> entry.type().equals(TYPE) && !others.contains(entry.device()))) {
            return Optional.empty();
        }
        for (LoopStatus status : LoopDevice.all(others)) {
            if (status.tag().equals(key.tag())) {
                Optional<LoopDevice> device = LoopDevice.open(status.number());
                // open from here on; before, it may have been freed and reused
                if (device.filter(held -> held.status().tag().equals(key.tag())).isPresent()) {
                    return device;
                }
                device.ifPresent(LoopDevice::close);
            }
        }
        return Optional.empty();
    }

    private static void mount(LoopDevice device, Path tree) {
        try {
            MountSyscalls.mount(device.path(), tree.toString(), TYPE, FLAGS, List.of(), "");
        } catch (ErrnoException e) {
            throw SystemErrors.translate("mounting a dataset at " + tree, e);
        }
    }

    /// Switches the tree to `file`, under its readers.
    ///
    /// @param instead the replica behind it now, if known; a truncated one is extended again, because the kernel
    ///     switches only between files of equal length
    /// @throws DriverException.NotFound (NOT_FOUND) if the tree is not mounted
    MountResult swap(ImageMountKey key, Path file, Optional<Path> instead) {
        LoopDevice opened = open(key)
                .orElseThrow(() -> new DriverException.NotFound("dataset " + key.digest() + " is not attached"));
        try (LoopDevice device = opened;
                DataFile wanted = DataFile.open(file)) {
            LoopStatus before = device.status();
            LoopStatus now =
                    before.backing().equals(wanted.identity()) ? before : ImageDevice.change(device, wanted, instead);
            if (!now.backing().equals(wanted.identity())) {
                throw new DriverException.BackendFault(
                        "the kernel says that " + device.path() + " is not over " + file + ", but it was put there");
            }
            return new MountResult(folders.tree(key), now, false);
        } catch (ErrnoException e) {
            throw SystemErrors.translate("putting " + file + " behind dataset " + key.digest(), e);
        }
    }

    /// Unmounts the tree, and with it the device; succeeds if it is already gone.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a volume still shows it, or a file in it is open
    void detach(ImageMountKey key) {
        String tree = folders.tree(key).toString();
        MountTable table = MountTable.read();
        table.at(tree).ifPresent(mounted -> {
            List<String> others = table.entries().stream()
                    .filter(entry -> entry.device().equals(mounted.device()))
                    .map(MountEntry::mountPoint)
                    .filter(point -> !point.equals(tree))
                    .toList();
            if (!others.isEmpty()) {
                throw new DriverException.InUse("dataset " + key.digest() + " is still mounted at " + others);
            }
            unmount(key);
            fuse.awaitEnd(mounted);
        });
        folders.remove(key);
    }

    private void unmount(ImageMountKey key, MountSyscalls.Unmount... how) {
        try {
            MountSyscalls.unmount(folders.tree(key).toString(), how);
        } catch (ErrnoException e) {
            if (!e.is(Errno.EINVAL, Errno.ENOENT)) {
                throw SystemErrors.translate("detaching dataset " + key.digest(), e);
            }
        }
    }

    /// Returns the devices of other datasets' trees.
    private Set<String> ofOthers(MountTable table, Digest dataset) {
        return table.entries().stream()
                .filter(entry -> folders.isOfAnother(entry.mountPoint(), dataset))
                .map(MountEntry::device)
                .collect(Collectors.toCollection(HashSet::new));
    }

    /// Returns whether any loop device reads `file`, a replica of `dataset`, whatever created the device. Ignores
    /// the devices of ended erofsfuse processes: pods may still show their mounts, but cannot read them.
    boolean isRead(Digest dataset, FileIdentity file) {
        MountTable table = MountTable.read();
        Set<String> others = ofOthers(table, dataset);
        table.entries().stream()
                .filter(entry -> ErofsFuse.isOf(entry, dataset) && ErofsFuse.isDead(entry))
                .map(MountEntry::device)
                .forEach(others::add);
        return LoopDevice.all(others).stream()
                .anyMatch(status -> status.backing().equals(file));
    }
}
