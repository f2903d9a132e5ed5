package dev.siphon.node.image;

import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.FileStatus;
import dev.siphon.node.linux.TreeReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import jnr.constants.platform.Errno;

/// Walks a tree with several threads. The result depends neither on their order nor on the order in which a
/// directory lists its names.
final class SourceTreeWalk implements WorkerPool.Work {
    private static final int TOLD_EVERY = 1000;

    private final DirectoryHandle source;
    private final ImageModes modes;
    private final PackListener listener;
    private final SkippedFiles skippedFiles = new SkippedFiles();
    private final AtomicLong entries = new AtomicLong();
    private final FileStatus rootStatus;
    private final ImageInode.Folder root;
    private final DirectoryQueue queue;

    private SourceTreeWalk(DirectoryHandle source, ImageModes modes, PackListener listener) {
        this.source = source;
        this.modes = modes;
        this.listener = listener;
        try (TreeReader reader = new TreeReader(source)) {
            rootStatus = reader.status();
            root = new ImageInode.Folder(rootStatus, attributes(reader, new byte[] {'.'}, "the source's root"));
        } catch (ErrnoException e) {
            throw SourceErrors.translate("the source's root", e);
        }
        queue = new DirectoryQueue(root);
    }

    /// Returns the root of `source`, with everything below it.
    ///
    /// @param walkers how many directories are read at once
    /// @throws dev.siphon.csi.DriverException InUse (FAILED_PRECONDITION) if something is mounted in it or it
    ///     changes; CapacityOutOfRange (OUT_OF_RANGE) if it exceeds the limits of EROFS; others for errors of the
    ///     file system
    static ImageInode.Folder walk(DirectoryHandle source, ImageModes modes, int walkers, PackListener listener) {
        SourceTreeWalk walk = new SourceTreeWalk(source, modes, listener);
        WorkerPool.run("walk", walkers, walk);
        walk.skippedFiles.reportTo(listener);
        return walk.root;
    }

    @Override
    public void untilDone() {
        try (TreeReader reader = new TreeReader(source)) {
            for (Optional<ImageInode.Folder> next = queue.next(); next.isPresent(); next = queue.next()) {
                queue.done(listDirectory(reader, next.get()));
            }
        } catch (ErrnoException e) {
            throw SourceErrors.translate("the source's root", e);
        }
    }

    @Override
    public void giveUp() {
        queue.close();
    }

    /// Fills `folder`, and returns the directories in it.
    private List<ImageInode.Folder> listDirectory(TreeReader reader, ImageInode.Folder folder) {
        List<ImageInode> found = new ArrayList<>();
        List<ImageInode.Folder> folders = new ArrayList<>();
        for (byte[] name : enter(reader, folder)) {
            inode(reader, folder, name).ifPresent(inode -> {
                found.add(inode);
                if (inode instanceof ImageInode.Folder inner) {
                    folders.add(inner);
                }
            });
            long sofar = entries.incrementAndGet();
            if (sofar % TOLD_EVERY == 0) {
                listener.walked(sofar);
            }
        }
        folder.fill(found);
        return folders;
    }

    private static List<byte[]> enter(TreeReader reader, ImageInode.Folder folder) {
        try {
            reader.enter(TreePath.of(folder));
            if (!reader.status().sameFile(folder.status())) {
                throw SourceErrors.changed(TreePath.quoted(folder));
            }
            return reader.names();
        } catch (ErrnoException e) {
            throw SourceErrors.translate(TreePath.quoted(folder), e);
        }
    }

    private Optional<ImageInode> inode(TreeReader reader, ImageInode.Folder folder, byte[] name) {
        ErofsLimits.checkName(folder, name);
        try {
            FileStatus status = reader.status(name);
            if (status.mount() != rootStatus.mount()) {
                throw SourceErrors.mounted(TreePath.quoted(folder, name));
            }
            return switch (status.kind()) {
                case DIRECTORY ->
                    Optional.of(new ImageInode.Folder(folder, name, status, attributes(reader, folder, name)));
                case REGULAR ->
                    Optional.of(new ImageInode.RegularFile(folder, name, status, attributes(reader, folder, name)));
                case SYMLINK -> Optional.of(new ImageInode.Symlink(folder, name, status, target(reader, folder, name)));
                case SPECIAL -> {
                    skippedFiles.add(TreePath.quoted(folder, name));
                    yield Optional.empty();
                }
            };
        } catch (ErrnoException e) {
            throw SourceErrors.translate(TreePath.quoted(folder, name), e);
        }
    }

    private static byte[] target(TreeReader reader, ImageInode.Folder folder, byte[] name) {
        try {
            byte[] target = reader.target(name);
            ErofsLimits.checkTarget(folder, name, target);
            return target;
        } catch (ErrnoException e) {
            // readlinkat(2): it was a symbolic link a moment ago
            if (e.is(Errno.EINVAL)) {
                throw SourceErrors.changed(TreePath.quoted(folder, name));
            }
            throw e;
        }
    }

    private byte[] attributes(TreeReader reader, ImageInode.Folder folder, byte[] name) {
        var found = reader.attributes(name, attribute -> ExtendedAttributes.keeps(modes, attribute));
        return found.isEmpty()
                ? ExtendedAttributes.NONE
                : ExtendedAttributes.encoded(found, TreePath.quoted(folder, name));
    }

    private byte[] attributes(TreeReader reader, byte[] name, String path) {
        return ExtendedAttributes.encoded(
                reader.attributes(name, attribute -> ExtendedAttributes.keeps(modes, attribute)), path);
    }
}
