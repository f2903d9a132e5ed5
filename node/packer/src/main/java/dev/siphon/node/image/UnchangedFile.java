package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.FileStatus;
import dev.siphon.node.linux.TreeFile;
import dev.siphon.node.linux.TreeReader;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// A regular file with random access that must not change after it is opened; a change is an error. For the thread
/// that opens it. Its path may not contain symbolic links.
final class UnchangedFile implements AutoCloseable {
    private final String shown;
    private final DirectoryHandle directory;
    private final TreeReader reader;
    private final TreeFile file;
    private final FileStatus status;

    private UnchangedFile(
            String shown, DirectoryHandle directory, TreeReader reader, TreeFile file, FileStatus status) {
        this.shown = shown;
        this.directory = directory;
        this.reader = reader;
        this.file = file;
        this.status = status;
    }

    /// @param path absolute
    /// @throws DriverException InvalidRequest (INVALID_ARGUMENT) if it is not a file, or has a symbolic link in its
    ///     path; NotFound (NOT_FOUND)
    static UnchangedFile open(Path path) {
        String shown = QuotedText.of(path.toString());
        try {
            DirectoryHandle directory = DirectoryHandle.open(
                    String.valueOf(path.toAbsolutePath().normalize().getParent()));
            TreeReader reader = new TreeReader(directory);
            TreeFile file = reader.open(String.valueOf(path.getFileName()).getBytes(StandardCharsets.UTF_8));
            FileStatus status = file.status();
            if (status.kind() != FileStatus.Kind.REGULAR) {
                throw new DriverException.InvalidRequest(shown + " is neither a directory nor a file");
            }
            return new UnchangedFile(shown, directory, reader, file, status);
        } catch (ErrnoException e) {
            throw switch (e.errno()) {
                case ELOOP, ENOTDIR ->
                    new DriverException.InvalidRequest("there is a symbolic link in the path of " + shown);
                case ENOENT -> new DriverException.NotFound("there is no " + shown);
                default -> SourceErrors.translate(shown, e);
            };
        }
    }

    /// Returns the quoted path.
    String shown() {
        return shown;
    }

    FileStatus status() {
        return status;
    }

    /// Fills `target`, which is native memory, with the bytes from `offset` on.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the file changed
    void read(long offset, MemorySegment target) {
        try {
            check();
            if (file.read(target, offset) < target.byteSize()) {
                throw changed();
            }
            check();
        } catch (ErrnoException e) {
            throw SourceErrors.translate(shown, e);
        }
    }

    private void check() {
        if (!status.sameContent(file.status())) {
            throw changed();
        }
    }

    private DriverException changed() {
        return new DriverException.InUse(shown + " changed while it was read: wait until its writer is done");
    }

    @Override
    public void close() {
        file.close();
        reader.close();
        directory.close();
    }
}
