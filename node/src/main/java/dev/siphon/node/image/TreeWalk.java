package dev.siphon.node.image;

import dev.siphon.node.linux.Directory;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.FileStatus;
import dev.siphon.node.linux.TreeReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import jnr.constants.platform.Errno;

/// Looks at everything in a tree, with several directories at a time. What comes out depends neither on the
/// order in which they are looked at nor on that in which a directory tells its names.
final class TreeWalk implements Crew.Work {
    private static final int TOLD_EVERY = 1000;

    private final Directory source;
    private final Modes modes;
    private final PackListener listener;
    private final LeftOut leftOut = new LeftOut();
    private final AtomicLong entries = new AtomicLong();
    private final FileStatus rootStatus;
    private final Inode.Folder root;
    private final Frontier frontier;

    private TreeWalk(Directory source, Modes modes, PackListener listener) {
        this.source = source;
        this.modes = modes;
        this.listener = listener;
        try (TreeReader reader = new TreeReader(source)) {
            rootStatus = reader.status();
            root = new Inode.Folder(rootStatus, attributes(reader, new byte[] {'.'}, "the source's root"));
        } catch (ErrnoException e) {
            throw SourceErrors.translate("the source's root", e);
        }
        frontier = new Frontier(root);
    }

    /// The root of what is in `source`, with all below it.
    ///
    /// @param walkers how many directories are looked at at the same time
    /// @throws dev.siphon.csi.DriverException InUse (FAILED_PRECONDITION) if something is mounted in it or it
    ///     changes; CapacityOutOfRange (OUT_OF_RANGE) for what EROFS cannot hold; others as the file system
    ///     fails
    static Inode.Folder walk(Directory source, Modes modes, int walkers, PackListener listener) {
        TreeWalk walk = new TreeWalk(source, modes, listener);
        Crew.run("walk", walkers, walk);
        walk.leftOut.tell(listener);
        return walk.root;
    }

    @Override
    public void untilDone() {
        try (TreeReader reader = new TreeReader(source)) {
            for (Optional<Inode.Folder> next = frontier.next(); next.isPresent(); next = frontier.next()) {
                frontier.done(look(reader, next.get()));
            }
        } catch (ErrnoException e) {
            throw SourceErrors.translate("the source's root", e);
        }
    }

    @Override
    public void giveUp() {
        frontier.close();
    }

    /// Fills `folder`; the directories that are in it.
    private List<Inode.Folder> look(TreeReader reader, Inode.Folder folder) {
        List<Inode> found = new ArrayList<>();
        List<Inode.Folder> folders = new ArrayList<>();
        for (byte[] name : enter(reader, folder)) {
            inode(reader, folder, name).ifPresent(inode -> {
                found.add(inode);
                if (inode instanceof Inode.Folder inner) {
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

    private static List<byte[]> enter(TreeReader reader, Inode.Folder folder) {
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

    private Optional<Inode> inode(TreeReader reader, Inode.Folder folder, byte[] name) {
        ErofsLimits.checkName(folder, name);
        try {
            FileStatus status = reader.status(name);
            if (status.mount() != rootStatus.mount()) {
                throw SourceErrors.mounted(TreePath.quoted(folder, name));
            }
            return switch (status.kind()) {
                case DIRECTORY -> Optional.of(new Inode.Folder(folder, name, status, attributes(reader, folder, name)));
                case REGULAR ->
                    Optional.of(new Inode.RegularFile(folder, name, status, attributes(reader, folder, name)));
                case SYMLINK -> Optional.of(new Inode.Symlink(folder, name, status, target(reader, folder, name)));
                case SPECIAL -> {
                    leftOut.add(TreePath.quoted(folder, name));
                    yield Optional.empty();
                }
            };
        } catch (ErrnoException e) {
            throw SourceErrors.translate(TreePath.quoted(folder, name), e);
        }
    }

    private static byte[] target(TreeReader reader, Inode.Folder folder, byte[] name) {
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

    private byte[] attributes(TreeReader reader, Inode.Folder folder, byte[] name) {
        var found = reader.attributes(name, attribute -> Attributes.keeps(modes, attribute));
        return found.isEmpty() ? Attributes.NONE : Attributes.encoded(found, TreePath.quoted(folder, name));
    }

    private byte[] attributes(TreeReader reader, byte[] name, String path) {
        return Attributes.encoded(reader.attributes(name, attribute -> Attributes.keeps(modes, attribute)), path);
    }
}
