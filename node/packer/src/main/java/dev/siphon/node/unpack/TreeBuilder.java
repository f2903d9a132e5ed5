package dev.siphon.node.unpack;

import dev.siphon.csi.QuotedText;
import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.fetch.FetchFailure.Reason;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.FileStatus;
import dev.siphon.node.linux.TreeWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import jnr.constants.platform.Errno;

/// Writes a tree. Files belong to the account that runs this, which may always read and write them. For one thread;
/// several may write to one tree.
final class TreeBuilder implements TreeSink, AutoCloseable {
    private static final int OWNER_DIRECTORY = 0700;
    private static final int OWNER_FILE = 0600;

    private final TreeWriter writer;
    private final TreeLimits limits;
    private final TreeListener listener;
    private final List<MemberPath> uncertain = new ArrayList<>();
    private long parents;

    /// @param root stays open as long as this
    TreeBuilder(DirectoryHandle root, TreeLimits limits, TreeListener listener) {
        writer = new TreeWriter(root);
        this.limits = limits;
        this.listener = listener;
    }

    /// A call of the kernel.
    private interface Call {
        void run();
    }

    private void call(MemberPath path, Call call) {
        try {
            call.run();
        } catch (ErrnoException e) {
            throw failure(path.shown(), e);
        }
    }

    private static FetchFailure failure(String shown, ErrnoException e) {
        return switch (e.errno()) {
            case EDQUOT, ENOSPC, EFBIG -> noRoom(shown);
            case ELOOP, ENOTDIR ->
                new FetchFailure(
                        Reason.UNSAFE_ARCHIVE,
                        shown + " is below a symbolic link or a file: only a directory can have files");
            case EISDIR ->
                new FetchFailure(
                        Reason.MALFORMED, shown + " has the name of a directory that the source has too: rename one");
            case EXDEV -> new FetchFailure(Reason.UNSAFE_ARCHIVE, shown + " leads out of the tree");
            case ENAMETOOLONG, EILSEQ, EINVAL ->
                new FetchFailure(Reason.UNSAFE_ARCHIVE, shown + " has a name that the file system refuses: rename it");
            default -> new FetchFailure(Reason.IO, "writing " + shown + " failed: " + e.getMessage());
        };
    }

    /// The error for a full volume.
    static FetchFailure noRoom(String shown) {
        return new FetchFailure(
                Reason.NO_ROOM,
                "there was no room for " + shown + ": ask for a larger size, which has to hold an archive and its"
                        + " files at the same time");
    }

    /// Counts a member, and the directories that the ones before it needed and nobody named.
    private void counted() {
        limits.addFile();
        countParents();
        listener.wrote(0, 1);
    }

    private void countParents() {
        long made = writer.madeParents();
        for (; parents < made; parents++) {
            limits.addFile();
        }
    }

    @Override
    public void directory(MemberPath path, Attributes attributes) {
        counted();
        if (!path.isRoot()) {
            call(path, () -> writer.directory(path.bytes(), attributes.permissions() | OWNER_DIRECTORY));
        }
    }

    @Override
    public void file(MemberPath path, Attributes attributes, long bytes, Content content) throws IOException {
        counted();
        limits.addBytes(bytes);
        mustHaveName(path);
        try (TreeWriter.NewFile file = writer.create(path.bytes())) {
            file.lengthen(bytes);
            content.writeTo((offset, octets, length) -> {
                if (offset + length > bytes) {
                    throw new FetchFailure(
                            Reason.MALFORMED, path.shown() + " has more than the " + bytes + " bytes of its header");
                }
                file.write(offset, octets, length);
                listener.wrote(length, 0);
            });
            file.finish(attributes.permissions() | OWNER_FILE, attributes.seconds(), attributes.nanos());
        } catch (ErrnoException e) {
            throw failure(path.shown(), e);
        }
    }

    /// Whether an earlier run has written all of a file: its time is set last.
    boolean has(MemberPath path, Attributes attributes, long bytes) {
        try {
            return writer.status(path.bytes())
                    .filter(found -> found.kind() == FileStatus.Kind.REGULAR
                            && found.size() == bytes
                            && found.modifiedSeconds() == attributes.seconds()
                            && found.modifiedNanos() == attributes.nanos())
                    .isPresent();
        } catch (ErrnoException e) {
            if (e.is(Errno.ENOTDIR, Errno.ELOOP)) {
                return false;
            }
            throw failure(path.shown(), e);
        }
    }

    /// Counts a file that [#has] found.
    void kept(long bytes) {
        counted();
        limits.addBytes(bytes);
        listener.wrote(bytes, 0);
    }

    @Override
    public void symlink(MemberPath path, String target) {
        counted();
        mustHaveName(path);
        if (path.checkTarget(target)) {
            uncertain.add(path);
        }
        call(path, () -> writer.symlink(path.bytes(), target.getBytes(StandardCharsets.ISO_8859_1)));
    }

    @Override
    public void hardLink(MemberPath path, MemberPath existing) {
        counted();
        mustHaveName(path);
        try {
            writer.link(path.bytes(), existing.bytes());
            // a target that is inside from there may be outside from here
            if (writer.status(path.bytes())
                    .filter(found -> found.kind() == FileStatus.Kind.SYMLINK)
                    .isPresent()) {
                uncertain.add(path);
            }
        } catch (ErrnoException e) {
            if (e.is(Errno.ENOENT, Errno.EPERM, Errno.ELOOP, Errno.ENOTDIR)) {
                throw path.refused("is a hard link to " + existing.shown() + ", and no file before it has that name");
            }
            throw failure(path.shown(), e);
        }
    }

    private static void mustHaveName(MemberPath path) {
        if (path.isRoot()) {
            throw new FetchFailure(Reason.MALFORMED, "a file of the source has no name");
        }
    }

    /// Completes the tree: checks symbolic links that only the whole tree can tell, and syncs it to disk.
    ///
    /// @throws FetchFailure UnsafeArchive for a link out of the tree; NoRoom
    void finish() {
        countParents();
        for (MemberPath path : uncertain) {
            call(path, () -> {
                if (!writer.staysInside(path.bytes())) {
                    throw path.refused("is a symbolic link that leads out of the tree: leave it out");
                }
            });
        }
        try {
            writer.sync();
        } catch (ErrnoException e) {
            throw failure(QuotedText.of("data"), e);
        }
    }

    @Override
    public void close() {
        writer.close();
    }
}
