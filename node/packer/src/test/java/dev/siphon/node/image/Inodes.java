package dev.siphon.node.image;

import dev.siphon.node.linux.FileStatus;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Builds trees for tests, including ones that no file system can have.
final class Inodes {
    private static final int DIRECTORY = 0x4000;
    private static final int REGULAR = 0x8000;

    private Inodes() {}

    static FileStatus status(int mode, long size) {
        return new FileStatus(mode, 1, 10, 20, 1, 1, 1, size, 1, 2, 3, 4);
    }

    static ImageInode.Folder root() {
        return new ImageInode.Folder(status(DIRECTORY | 0750, 4096), ExtendedAttributes.NONE);
    }

    static ImageInode.Folder folder(ImageInode.Folder parent, String name) {
        return new ImageInode.Folder(
                parent, name.getBytes(StandardCharsets.UTF_8), status(DIRECTORY | 0750, 4096), ExtendedAttributes.NONE);
    }

    static ImageInode file(ImageInode.Folder parent, String name, long size, byte[] attributes) {
        return new ImageInode.RegularFile(
                parent, name.getBytes(StandardCharsets.UTF_8), status(REGULAR | 0640, size), attributes);
    }

    static ImageInode file(ImageInode.Folder parent, String name, long size) {
        return file(parent, name, size, ExtendedAttributes.NONE);
    }

    /// Returns the layout of a root with these files.
    static ImageLayout layout(ImageInode.Folder root, List<? extends ImageInode> found) {
        root.fill(found);
        return new ImageLayout(ImageTree.of(root));
    }
}
