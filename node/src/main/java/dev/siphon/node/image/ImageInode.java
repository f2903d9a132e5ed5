package dev.siphon.node.image;

import dev.siphon.node.linux.FileStatus;
import java.util.Arrays;

/// Something that the image has an inode for. It is made where its first name was found.
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

    /// A directory.
    static final class Folder extends ImageInode {
        private static final byte[] DOT = {'.'};
        private static final byte[] DOTS = {'.', '.'};

        private ImageEntry[] entries = {};

        /// The root, which is its own parent.
        Folder(FileStatus status, byte[] attributes) {
            super(status, attributes);
        }

        Folder(Folder parent, byte[] name, FileStatus status, byte[] attributes) {
            super(parent, name, status, attributes);
        }

        /// Takes what was found in it; `.` and `..` are added here.
        void fill(java.util.List<? extends ImageInode> found) {
            ImageEntry[] all = found.toArray(new ImageEntry[found.size() + 2]);
            all[found.size()] = new Alias(DOT, this);
            all[found.size() + 1] = new Alias(DOTS, parent());
            Arrays.sort(all, BY_NAME);
            entries = all;
        }

        /// All names in it by their bytes, `.` and `..` among them. Whoever numbers the tree may put an alias in
        /// place of a further name of a file.
        ImageEntry[] entries() {
            return entries;
        }
    }

    /// A regular file.
    static final class RegularFile extends ImageInode {
        RegularFile(Folder parent, byte[] name, FileStatus status, byte[] attributes) {
            super(parent, name, status, attributes);
        }
    }

    /// A symbolic link.
    static final class Symlink extends ImageInode {
        private final byte[] target;

        Symlink(Folder parent, byte[] name, FileStatus status, byte[] target) {
            super(parent, name, status, new byte[0]);
            this.target = target;
        }

        /// Where it leads, as it was written; nobody changes it.
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

    /// What the source says it is.
    FileStatus status() {
        return status;
    }

    /// Its extended attributes as the image holds them; nobody changes them.
    byte[] attributes() {
        return attributes;
    }

    /// Its place in the order of the image, from 0 for the root.
    int number() {
        return number;
    }

    void number(int place) {
        number = place;
    }

    /// How many names in the image name it.
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
