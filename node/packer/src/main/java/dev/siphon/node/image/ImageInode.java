package dev.siphon.node.image;

import dev.siphon.node.linux.FileStatus;
import java.util.Arrays;

/// An inode of the image, created at its first name.
abstract sealed class ImageInode implements ImageEntry {
    private final Folder parent;
    private final byte[] name;
    private final FileStatus status;
    private final byte[] attributes;
    private int number;
    private int links;

    private ImageInode(Folder parent, byte[] name, FileStatus status, byte[] attributes) {
        this.parent = parent;
        this.name = name;
        this.status = status;
        this.attributes = attributes;
    }

    private ImageInode(FileStatus status, byte[] attributes) {
        this.parent = (Folder) this;
        this.name = new byte[0];
        this.status = status;
        this.attributes = attributes;
    }

    static final class Folder extends ImageInode {
        private static final byte[] DOT = {'.'};
        private static final byte[] DOTS = {'.', '.'};

        private ImageEntry[] entries = {};

        /// Creates the root, which is its own parent.
        Folder(FileStatus status, byte[] attributes) {
            super(status, attributes);
        }

        Folder(Folder parent, byte[] name, FileStatus status, byte[] attributes) {
            super(parent, name, status, attributes);
        }

        /// Sets the contents, and adds `.` and `..`.
        void fill(java.util.List<? extends ImageInode> found) {
            ImageEntry[] all = found.toArray(new ImageEntry[found.size() + 2]);
            all[found.size()] = new Alias(DOT, this);
            all[found.size() + 1] = new Alias(DOTS, parent());
            Arrays.sort(all, BY_NAME);
            entries = all;
        }

        /// Returns all names, sorted by bytes, with `.` and `..`. The numbering of the tree may replace a further
        /// name of a file by an alias.
        ImageEntry[] entries() {
            return entries;
        }
    }

    static final class RegularFile extends ImageInode {
        RegularFile(Folder parent, byte[] name, FileStatus status, byte[] attributes) {
            super(parent, name, status, attributes);
        }
    }

    static final class Symlink extends ImageInode {
        private final byte[] target;

        Symlink(Folder parent, byte[] name, FileStatus status, byte[] target) {
            super(parent, name, status, new byte[0]);
            this.target = target;
        }

        /// Returns the link's target as written. Must not be modified.
        byte[] target() {
            return target;
        }
    }

    Folder parent() {
        return parent;
    }

    @Override
    public byte[] name() {
        return name;
    }

    @Override
    public ImageInode inode() {
        return this;
    }

    /// Returns the status in the source.
    FileStatus status() {
        return status;
    }

    /// Returns the encoded extended attributes. Must not be modified.
    byte[] attributes() {
        return attributes;
    }

    /// Returns the position in the image's order; the root is 0.
    int number() {
        return number;
    }

    void number(int place) {
        number = place;
    }

    /// Returns how many names in the image refer to it.
    int links() {
        return links;
    }

    void addLink() {
        links++;
    }

    boolean isRoot() {
        return parent == this;
    }
}
