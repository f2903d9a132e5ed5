package dev.siphon.node.image;

import java.util.Arrays;
import java.util.Comparator;

/// A directory entry: a name and its inode.
sealed interface ImageEntry permits ImageInode, ImageEntry.Alias {
    /// The order in which EROFS sorts and searches names: by unsigned bytes.
    Comparator<ImageEntry> BY_NAME = (one, other) -> Arrays.compareUnsigned(one.name(), other.name());

    /// The name's bytes, in any encoding. Must not be modified.
    byte[] name();

    /// The inode of the name.
    ImageInode inode();

    /// A further name of an inode: `.` and `..`, and all names of a file but its first.
    final class Alias implements ImageEntry {
        private final byte[] name;
        private final ImageInode inode;

        Alias(byte[] name, ImageInode inode) {
            this.name = name;
            this.inode = inode;
        }

        @Override
        public byte[] name() {
            return name;
        }

        @Override
        public ImageInode inode() {
            return inode;
        }
    }
}
