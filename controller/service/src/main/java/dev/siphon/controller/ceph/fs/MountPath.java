package dev.siphon.controller.ceph.fs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// A path or name in a file system, as bytes: names given by users need not be UTF-8.
///
/// @param mounted the directory that this path's mount shows as `/`, for messages; empty for the file system's
///     root, and in a name
/// @param bytes one char per byte (ISO 8859-1), which makes the value comparable
record MountPath(String mounted, String bytes) {
    /// Maximum length in messages: they travel in the headers of a reply, which may have 8 KiB.
    private static final int BRIEF = 1_024;

    private static final String SNAPSHOTS = ".snap";

    /// A name, or a path in a mount of the file system's root.
    MountPath(String bytes) {
        this("", bytes);
    }

    /// Returns the path for a text in UTF-8.
    static MountPath of(String path) {
        return in("", path);
    }

    /// Returns a path in a mount.
    ///
    /// @param mounted see [MountPath#mounted]
    static MountPath in(String mounted, String path) {
        return new MountPath(mounted, new String(path.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1));
    }

    /// Returns a name read from a directory: the bytes of `memory` up to the first zero.
    static MountPath read(MemorySegment memory, long offset) {
        return new MountPath(memory.getString(offset, StandardCharsets.ISO_8859_1));
    }

    /// Returns the path of an entry of this directory.
    MountPath child(MountPath name) {
        return new MountPath(mounted, bytes.equals("/") ? "/" + name.bytes : bytes + "/" + name.bytes);
    }

    /// Returns the names on the way from the root; `.snap` and the snapshot's name, which is not a symlink, are
    /// one step.
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

    /// Returns the bytes with a terminating zero.
    MemorySegment in(Arena arena) {
        return arena.allocateFrom(bytes, StandardCharsets.ISO_8859_1);
    }

    /// Returns whether this is `.` or `..`.
    boolean isSelfOrParent() {
        return bytes.equals(".") || bytes.equals("..");
    }

    /// Returns whether a client finds snapshots under this name (`client_snapdir`), which no listing contains. If
    /// a listing does contain it, a client that calls its snapshots differently created that directory. Neither
    /// this client nor the mgr, which removes the volume, can reach it.
    boolean isSnapshots() {
        return bytes.equals(SNAPSHOTS);
    }

    /// Returns the path in the file system for messages, without the middle of a long one.
    String brief() {
        String path = mounted.isEmpty() ? bytes : mounted + (bytes.equals("/") ? "" : bytes);
        int end = BRIEF / 2;
        return path.length() <= BRIEF
                ? text(path)
                : text(path.substring(0, end)) + "..." + text(path.substring(path.length() - end));
    }

    /// Returns the path in its mount as UTF-8 text.
    @Override
    public String toString() {
        return text(bytes);
    }

    private static String text(String bytes) {
        return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }
}
