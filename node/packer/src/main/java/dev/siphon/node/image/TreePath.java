package dev.siphon.node.image;

import dev.siphon.csi.QuotedText;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;

/// Formats paths relative to the tree's root.
final class TreePath {
    private static final int SHOWN_CHARS = 150;

    private TreePath() {}

    /// Returns the path for the kernel; empty for the root.
    static byte[] of(ImageInode inode) {
        Deque<ImageInode> parts = new ArrayDeque<>();
        for (ImageInode part = inode; !part.isRoot(); part = part.parent()) {
            parts.push(part);
        }
        ByteArrayOutputStream path = new ByteArrayOutputStream();
        for (ImageInode part : parts) {
            if (path.size() > 0) {
                path.write('/');
            }
            path.writeBytes(part.name());
        }
        return path.toByteArray();
    }

    /// Returns the quoted path for people. Keeps the end of a long one, because that distinguishes it from others.
    static String quoted(ImageInode inode) {
        return quoted(of(inode));
    }

    /// Returns the same for `name` in `folder`.
    static String quoted(ImageInode.Folder folder, byte[] name) {
        byte[] above = of(folder);
        ByteArrayOutputStream path = new ByteArrayOutputStream();
        path.writeBytes(above);
        if (above.length > 0) {
            path.write('/');
        }
        path.writeBytes(name);
        return quoted(path.toByteArray());
    }

    private static String quoted(byte[] path) {
        String text = path.length == 0 ? "." : new String(path, StandardCharsets.UTF_8);
        return text.length() <= SHOWN_CHARS
                ? QuotedText.of(text)
                : "..." + QuotedText.of(text.substring(text.length() - SHOWN_CHARS));
    }
}
