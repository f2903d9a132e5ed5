package dev.siphon.node.image;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// All inodes of the image in its order: a directory, then its other entries by name, then its subdirectories, each
/// in the same way. A reader that goes directory by directory reads files in this order, so their data is
/// contiguous on disk.
///
/// @param inodes the root is the first
/// @param files how many of them are regular files
record ImageTree(List<ImageInode> inodes, long files) {
    /// Identifies a file independently of its names.
    private record Identity(long device, long inode) {}

    /// Numbers everything below `root`. Merges the names of a hard-linked file into one inode, at the first name in
    /// the image's order.
    static ImageTree of(ImageInode.Folder root) {
        Numbering numbering = new Numbering();
        numbering.all(root);
        return new ImageTree(numbering.inodes, numbering.files);
    }

    ImageInode.Folder root() {
        return (ImageInode.Folder) inodes.getFirst();
    }

    private static final class Numbering {
        private final List<ImageInode> inodes = new ArrayList<>();
        private final Map<Identity, ImageInode> linked = new HashMap<>();
        private final Deque<ImageInode.Folder> folders = new ArrayDeque<>();
        private long files;

        void all(ImageInode.Folder root) {
            root.addLink();
            folders.push(root);
            while (!folders.isEmpty()) {
                folder(folders.pop());
            }
        }

        private void folder(ImageInode.Folder folder) {
            number(folder);
            folder.addLink();
            ImageEntry[] entries = folder.entries();
            for (int i = 0; i < entries.length; i++) {
                entries[i] = switch (entries[i]) {
                    case ImageEntry.Alias alias -> alias;
                    case ImageInode.Folder inner -> inner;
                    case ImageInode.RegularFile file -> named(file);
                    case ImageInode.Symlink link -> named(link);
                };
            }
            // push in reverse, so that the first is popped first
            for (int i = entries.length - 1; i >= 0; i--) {
                if (entries[i] instanceof ImageInode.Folder inner) {
                    inner.addLink();
                    folder.addLink();
                    folders.push(inner);
                }
            }
        }

        private ImageEntry named(ImageInode inode) {
            if (inode.status().links() > 1) {
                Identity identity =
                        new Identity(inode.status().device(), inode.status().inode());
                ImageInode first = linked.putIfAbsent(identity, inode);
                if (first != null) {
                    first.addLink();
                    return new ImageEntry.Alias(inode.name(), first);
                }
            }
            inode.addLink();
            number(inode);
            if (inode instanceof ImageInode.RegularFile) {
                files++;
            }
            return inode;
        }

        private void number(ImageInode inode) {
            inode.number(inodes.size());
            inodes.add(inode);
        }
    }
}
