package dev.siphon.node.unpack;

import dev.siphon.csi.QuotedText;
import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.fetch.FetchFailure.Reason;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.ExclusiveLock;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import jnr.constants.platform.Errno;

/// What a fetch leaves behind when it is killed: `.siphon-fetch` beside the tree. One fetcher at a time uses it.
final class WorkDirectory implements AutoCloseable {
    private final Path into;
    private final Path work;
    private final ExclusiveLock lock;

    private WorkDirectory(Path into, Path work, ExclusiveLock lock) {
        this.into = into;
        this.work = work;
        this.lock = lock;
    }

    /// @param into exists
    /// @throws FetchFailure Io if another fetcher uses it; NoRoom
    static WorkDirectory open(Path into) {
        Path work = into.resolve(".siphon-fetch");
        try {
            if (!Files.isDirectory(work, LinkOption.NOFOLLOW_LINKS)) {
                Files.createDirectory(work);
            }
            return new WorkDirectory(
                    into,
                    work,
                    ExclusiveLock.take(work.resolve("lock"))
                            .orElseThrow(() -> new FetchFailure(
                                    Reason.IO,
                                    "another fetcher writes to " + QuotedText.of(into.toString()) + ": wait for it")));
        } catch (IOException e) {
            throw failure(work, e);
        } catch (ErrnoException e) {
            throw failure(work, e);
        }
    }

    Path download() {
        return work.resolve("download");
    }

    Path downloadOrigin() {
        return work.resolve("download.from");
    }

    /// Returns the tree while it is being written.
    Path tree() {
        return work.resolve("tree");
    }

    /// Returns the tree once it is complete.
    Path data() {
        return into.resolve("data");
    }

    boolean isComplete() {
        return Files.isDirectory(data(), LinkOption.NOFOLLOW_LINKS);
    }

    /// Makes [#tree], if it is missing.
    void makeTree() {
        try {
            if (!Files.isDirectory(tree(), LinkOption.NOFOLLOW_LINKS)) {
                Files.createDirectory(tree());
            }
        } catch (IOException e) {
            throw failure(tree(), e);
        }
    }

    /// Removes what an earlier run has written of a tree.
    void removeTree() {
        remove(tree());
    }

    /// Renames the tree, which is on disk, to [#data].
    void publish() {
        try {
            Files.move(tree(), data(), StandardCopyOption.ATOMIC_MOVE);
            try (FileChannel directory = FileChannel.open(into, StandardOpenOption.READ)) {
                directory.force(true);
            }
        } catch (IOException e) {
            throw failure(data(), e);
        }
    }

    /// Removes everything but the tree.
    void remove() {
        remove(work);
    }

    /// Removes a directory with everything in it. Follows no symbolic link.
    static void remove(Path directory) {
        try {
            Files.walkFileTree(directory, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.deleteIfExists(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path done, @org.jspecify.annotations.Nullable IOException e)
                        throws IOException {
                    Files.deleteIfExists(done);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (NoSuchFileException _) {
            // there is none
        } catch (IOException e) {
            throw failure(directory, e);
        }
    }

    /// The error for files of the work directory.
    static FetchFailure failure(Path path, IOException e) {
        String reason = Objects.requireNonNullElse(e.getMessage(), "");
        return reason.contains("No space left on device") || reason.contains("Disk quota exceeded")
                ? TreeBuilder.noRoom(QuotedText.of(path.toString()))
                : new FetchFailure(Reason.IO, "using " + QuotedText.of(path.toString()) + " failed: " + e);
    }

    /// The same for an error of the kernel.
    static FetchFailure failure(Path path, ErrnoException e) {
        return e.is(Errno.ENOSPC, Errno.EDQUOT)
                ? TreeBuilder.noRoom(QuotedText.of(path.toString()))
                : new FetchFailure(Reason.IO, "using " + QuotedText.of(path.toString()) + " failed: " + e.getMessage());
    }

    @Override
    public void close() {
        lock.close();
    }
}
