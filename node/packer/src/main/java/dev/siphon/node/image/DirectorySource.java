package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.ErrnoException;
import java.nio.file.Path;

/// Packs a tree of files.
final class DirectorySource implements ImageSource {
    private final DirectoryHandle directory;

    private DirectorySource(DirectoryHandle directory) {
        this.directory = directory;
    }

    /// @param source absolute
    /// @throws DriverException InvalidRequest (INVALID_ARGUMENT) if it is not a directory, or has a symbolic link
    ///     in its path; NotFound (NOT_FOUND)
    static DirectorySource open(Path source) {
        String path = source.toString();
        try {
            return new DirectorySource(DirectoryHandle.open(path));
        } catch (ErrnoException e) {
            throw switch (e.errno()) {
                case ELOOP, ENOTDIR ->
                    new DriverException.InvalidRequest("the source " + QuotedText.of(path)
                            + " is not a directory, or its path contains a symbolic link");
                case ENOENT -> new DriverException.NotFound("there is no source " + QuotedText.of(path));
                default -> SourceErrors.translate(QuotedText.of(path), e);
            };
        }
    }

    @Override
    public ImageInode.Folder tree(ImageModes modes, int parallel, PackListener listener) {
        return SourceTreeWalk.walk(directory, modes, parallel, listener);
    }

    @Override
    public Reader reader(ImageInode.Folder root) {
        return new SourceFiles(directory, root);
    }

    @Override
    public void used() {
        // keeps no state
    }

    @Override
    public void close() {
        directory.close();
    }
}
