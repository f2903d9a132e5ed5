package dev.siphon.node.image;

import java.util.Arrays;
import java.util.Comparator;

/// A name in a directory, and what it names.
sealed interface ImageEntry permits ImageInode, ImageEntry.Alias {
    /// As EROFS sorts names and looks for them: by their bytes, each from 0 to 255.
    Comparator<ImageEntry> BY_NAME = (one, other) -> Arrays.compareUnsigned(one.name(), other.name());

    /// Its bytes, of whatever encoding; nobody changes them.
    byte[] name();

    /// What it names.
    ImageInode inode();

    /// A further name of something: `.` and `..`, and all names of a file but its first.
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
