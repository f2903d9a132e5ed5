package dev.siphon.node.image;

import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.TreeFile;
import dev.siphon.node.linux.TreeReader;
import java.lang.foreign.MemorySegment;

/// Reads the files of the source. Compares each, before and after reading, with its status when the tree was
/// walked; a difference is an error. For one thread.
final class SourceFiles implements ImageSource.Reader {
    private final TreeReader reader;
    private final ImageInode.Folder root;
    private ImageInode.Folder here;

    SourceFiles(DirectoryHandle source, ImageInode.Folder root) {
        this.reader = new TreeReader(source);
        this.root = root;
        this.here = root;
    }

    @Override
    public void read(ImageInode.RegularFile file, long offset, MemorySegment target) {
        try {
            enter(file.parent());
            try (TreeFile open = reader.open(file.name())) {
                check(file, open);
                if (open.read(target, offset) < target.byteSize()) {
                    throw SourceErrors.changed(TreePath.quoted(file));
                }
                check(file, open);
            }
        } catch (ErrnoException e) {
            throw SourceErrors.translate(TreePath.quoted(file), e);
        }
    }

    private static void check(ImageInode.RegularFile file, TreeFile open) {
        if (!file.status().sameContent(open.status())) {
            throw SourceErrors.changed(TreePath.quoted(file));
        }
    }

    /// Enters a directory. Files come directory by directory, so it rarely changes.
    private void enter(ImageInode.Folder folder) {
        if (folder != here) {
            here = root; // in case the next line fails
            reader.enter(TreePath.of(folder));
            here = folder;
        }
    }

    @Override
    public void close() {
        reader.close();
    }
}
