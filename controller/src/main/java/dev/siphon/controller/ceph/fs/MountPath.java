package dev.siphon.controller.ceph.fs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// A path or name in a file system, as bytes: names that users gave need not be UTF-8.
///
/// @param mounted the directory that the mount of this path shows as `/`, for messages; empty for the file system's
///     root, and in a name
/// @param bytes one char per byte (ISO 8859-1), which makes a comparable value of them
record MountPath(String mounted, String bytes) {
    /// A message travels in the headers of an answer, which may have 8 KiB.
    private static final int BRIEF = 1_024;

    private static final String SNAPSHOTS = ".snap";

    /// A name, or a path in a mount of the file system's root.
    MountPath(String bytes) {
        this("", bytes);
    }

    /// The path that people write so.
    static MountPath of(String path) {
        return in("", path);
    }

    /// A path in a mount.
    ///
    /// @param mounted see [MountPath#mounted]
    static MountPath in(String mounted, String path) {
        return new MountPath(mounted, new String(path.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1));
    }

    /// A name that was read from a directory: the bytes of `memory` up to the first zero.
    static MountPath read(MemorySegment memory, long offset) {
        return new MountPath(memory.getString(offset, StandardCharsets.ISO_8859_1));
    }

    /// The entry of that name in this directory.
    MountPath child(MountPath name) {
        return new MountPath(mounted, bytes.equals("/") ? "/" + name.bytes : bytes + "/" + name.bytes);
    }

    /// The names on the way from the root; `.snap` and the snapshot's name, which is no symlink, are one
    /// step.
    List<MountPath> steps() {
        List<MountPath> steps = new ArrayList<>();
        for (String part : bytes.split("/", -1)) {
            if (!steps.isEmpty() && steps.getLast().isSnapshots()) {
                steps.add(steps.removeLast().child(new MountPath(part)));
            } else if (!part.isEmpty()) {
                steps.add(new MountPath(part));
            }
        }
        return steps;
    }

    /// The bytes, with a zero after them.
    MemorySegment in(Arena arena) {
        return arena.allocateFrom(bytes, StandardCharsets.ISO_8859_1);
    }

    /// Whether this is `.` or `..`.
    boolean isSelfOrParent() {
        return bytes.equals(".") || bytes.equals("..");
    }

    /// Whether a client finds snapshots under this name (`client_snapdir`), which no listing has. A directory that
    /// is listed with it was made by a client that calls those something else, and is out of reach here,
    /// and for the mgr that is to remove it.
    boolean isSnapshots() {
        return bytes.equals(SNAPSHOTS);
    }

    /// In the file system, as messages show it: without the middle of a long one.
    String brief() {
        String path = mounted.isEmpty() ? bytes : mounted + (bytes.equals("/") ? "" : bytes);
        int end = BRIEF / 2;
        return path.length() <= BRIEF
                ? text(path)
                : text(path.substring(0, end)) + "..." + text(path.substring(path.length() - end));
    }

    /// In its mount, as people write it.
    @Override
    public String toString() {
        return text(bytes);
    }

    private static String text(String bytes) {
        return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }
}
