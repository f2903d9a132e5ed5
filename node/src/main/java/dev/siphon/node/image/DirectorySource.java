package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Quoted;
import dev.siphon.node.linux.Directory;
import dev.siphon.node.linux.ErrnoException;
import java.nio.file.Path;

/// A tree of files.
final class DirectorySource implements Source {
    private final Directory directory;

    private DirectorySource(Directory directory) {
        this.directory = directory;
    }

    /// @param source absolute
    /// @throws DriverException InvalidRequest (INVALID_ARGUMENT) for what is no directory or behind a link;
    ///     NotFound
    static DirectorySource open(Path source) {
        String path = source.toString();
        try {
            return new DirectorySource(Directory.open(path));
        } catch (ErrnoException e) {
            throw switch (e.errno()) {
                case ELOOP, ENOTDIR ->
                    new DriverException.InvalidRequest("the source " + Quoted.of(path)
                            + " is no directory, or there is a symbolic link in its path");
                case ENOENT -> new DriverException.NotFound("there is no source " + Quoted.of(path));
                default -> SourceErrors.translate(Quoted.of(path), e);
            };
        }
    }

    @Override
    public Inode.Folder tree(Modes modes, int parallel, PackListener listener) {
        return TreeWalk.walk(directory, modes, parallel, listener);
    }

    @Override
    public Reader reader(Inode.Folder root) {
        return new SourceFiles(directory, root);
    }

    @Override
    public void used() {
        // nothing was kept
    }

    @Override
    public void close() {
        directory.close();
    }
}
