package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.volume.FileTree;
import dev.siphon.csi.DriverException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Copies entries that are not directories, one after the other; each worker of a copy has its own.
final class EntryCopy implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(EntryCopy.class);
    private static final long BLOCK_BYTES = 1L << 20;

    private final Mount mount;
    private final TreeCopy.Order order;
    private final HardLinks links;
    private final FileTree.Copy progress;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment block = arena.allocate(BLOCK_BYTES);
    private final MemorySegment zeros = arena.allocate(BLOCK_BYTES);

    EntryCopy(Mount mount, TreeCopy.Order order, HardLinks links, FileTree.Copy progress) {
        this.mount = mount;
        this.order = order;
        this.links = links;
        this.progress = progress;
    }

    /// Makes `target` equal to `source`, whatever exists there; skips a file that looks complete.
    void copy(MountPath source, MountPath target) {
        FileStat wanted = wanted(source);
        switch (wanted.kind()) {
            case REGULAR -> copyRegular(source, target, wanted);
            case SYMLINK -> {
                remove(target);
                mount.makeSymlink(mount.readLink(source), target);
                mount.setAttributes(target, wanted);
            }
            case PIPE -> {
                remove(target);
                mount.makePipe(target, wanted.mode());
                mount.setAttributes(target, wanted);
            }
            case DEVICE -> LOG.atWarn().addKeyValue("path", source.brief()).log("a device file is not copied");
            case DIRECTORY -> throw new IllegalArgumentException(source + " is a directory");
        }
        progress.copiedEntries().increment();
    }

    /// Sets the source's attributes on a directory whose entries all exist.
    void finish(MountPath source, MountPath target) {
        mount.setAttributes(target, wanted(source));
        progress.copiedEntries().increment();
    }

    /// Returns the attributes that a copy of `source` gets.
    private FileStat wanted(MountPath source) {
        return mount.stat(source)
                .orElseThrow(() -> new DriverException.NotFound(source.brief() + " disappeared while it was copied"))
                .ownedBy(order.uid(), order.gid());
    }

    private void copyRegular(MountPath source, MountPath target, FileStat wanted) {
        if (wanted.links() < 2) {
            copyContents(source, target, wanted);
            return;
        }
        if (hasAllNames(target, wanted)) {
            progress.copiedBytes().add(wanted.sizeBytes());
            return;
        }
        switch (links.meet(wanted.inode(), wanted.links(), target)) {
            case HardLinks.First first -> {
                try {
                    copyContents(source, target, wanted);
                    first.done().complete(null);
                } finally {
                    // If the copy failed, those that wait for it fail too.
                    first.done().cancel(false);
                }
            }
            case HardLinks.Again again -> {
                again.first().done().join();
                link(again.first().name(), target);
            }
            case HardLinks.NoRoom _ -> {
                // Another pass copies this name.
            }
        }
    }

    /// Returns whether an earlier pass completed this file: with all its names copied, it need not be remembered.
    private boolean hasAllNames(MountPath target, FileStat wanted) {
        return mount.stat(target)
                .filter(wanted::isLike)
                .filter(there -> there.links() == wanted.links())
                .isPresent();
    }

    private void link(MountPath first, MountPath target) {
        if (!isSameFile(first, target)) {
            remove(target);
            mount.makeLink(first, target);
        }
    }

    private boolean isSameFile(MountPath one, MountPath other) {
        Optional<Long> inode = mount.stat(one).map(FileStat::inode);
        return inode.isPresent() && inode.equals(mount.stat(other).map(FileStat::inode));
    }

    private void copyContents(MountPath source, MountPath target, FileStat wanted) {
        Optional<FileStat> existing = mount.stat(target);
        // The times are set last, so a file that has them is complete.
        if (existing.filter(wanted::isLike).isPresent()) {
            progress.copiedBytes().add(wanted.sizeBytes());
            return;
        }
        existing.ifPresent(_ -> mount.unlink(target));
        try (OpenFile from = mount.open(source, OpenFlags.READ);
                OpenFile to = mount.open(target, OpenFlags.WRITE | OpenFlags.CREATE | OpenFlags.EXCLUSIVE)) {
            copyBlocks(from, to);
            // Also creates a hole at the end.
            to.setLength(wanted.sizeBytes());
        }
        copyAttributes(source, target);
        mount.setAttributes(target, wanted);
    }

    private void copyBlocks(OpenFile from, OpenFile to) {
        long offset = 0;
        for (int length = from.read(block, offset); length > 0; length = from.read(block, offset)) {
            MemorySegment data = block.asSlice(0, length);
            if (data.mismatch(zeros.asSlice(0, length)) >= 0) {
                to.write(data, offset);
            }
            offset += length;
            progress.copiedBytes().add(length);
        }
    }

    /// Copies the extended attributes that users may set.
    void copyAttributes(MountPath source, MountPath target) {
        mount.userAttributes(source).forEach(name -> mount.copyAttribute(name, source, target));
    }

    private void remove(MountPath target) {
        if (mount.stat(target).isPresent()) {
            mount.unlink(target);
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
