package dev.siphon.node.image;

import dev.siphon.node.linux.FileStatus;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Trees for tests, that no file system has.
final class Inodes {
    private static final int DIRECTORY = 0x4000;
    private static final int REGULAR = 0x8000;

    private Inodes() {}

    static FileStatus status(int mode, long size) {
        return new FileStatus(mode, 1, 10, 20, 1, 1, 1, size, 1, 2, 3, 4);
    }

    static Inode.Folder root() {
        return new Inode.Folder(status(DIRECTORY | 0750, 4096), Attributes.NONE);
    }

    static Inode.Folder folder(Inode.Folder parent, String name) {
        return new Inode.Folder(
                parent, name.getBytes(StandardCharsets.UTF_8), status(DIRECTORY | 0750, 4096), Attributes.NONE);
    }

    static Inode file(Inode.Folder parent, String name, long size, byte[] attributes) {
        return new Inode.RegularFile(
                parent, name.getBytes(StandardCharsets.UTF_8), status(REGULAR | 0640, size), attributes);
    }

    static Inode file(Inode.Folder parent, String name, long size) {
        return file(parent, name, size, Attributes.NONE);
    }

    /// The layout of a root with these files in it.
    static ImageLayout layout(Inode.Folder root, List<? extends Inode> found) {
        root.fill(found);
        return new ImageLayout(Tree.of(root));
    }
}
