package dev.siphon.csi;

import java.nio.charset.StandardCharsets;

/// The rules for a path inside a Ceph file system that comes from the wire.
public final class CephPath {
    /// `NAME_MAX` of `linux/limits.h`; CephFS has the same.
    private static final int MAX_PART_BYTES = 255;

    /// Three quarters of `PATH_MAX`: a node reaches the path below a directory of its own.
    private static final int MAX_BYTES = 3072;

    private static final String LIMITS = MAX_BYTES + " bytes, " + MAX_PART_BYTES + " in each part";

    private CephPath() {}

    /// Whether `path` is absolute, has no `.`, `..` or empty part, no `.snap` (snapshots have ids of their own),
    /// no control character, and no part that is too long for a name.
    public static boolean isClean(String path) {
        if (!path.startsWith("/")
                || path.length() == 1
                || octets(path) > MAX_BYTES
                || path.codePoints().anyMatch(Character::isISOControl)) {
            return false;
        }
        for (String part : path.substring(1).split("/", -1)) {
            if (part.isEmpty()
                    || part.equals(".")
                    || part.equals("..")
                    || part.equals(".snap")
                    || octets(part) > MAX_PART_BYTES) {
                return false;
            }
        }
        return true;
    }

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `path` is not clean
    public static void check(String path) {
        if (!isClean(path)) {
            throw new DriverException.InvalidRequest("path " + QuotedText.of(path)
                    + " must be absolute, without '.', '..', '.snap', empty parts or control characters, of at most "
                    + LIMITS);
        }
    }

    /// As [#check], for a path below another: without leading `/`, and with `.snap` allowed, since only the
    /// controller writes such a path.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `path` is not clean
    public static void checkRelative(String path) {
        if (!isClean("/" + path.replaceFirst("/\\.snap/", "/"))) {
            throw new DriverException.InvalidRequest("path " + QuotedText.of(path)
                    + " must be relative, without '.', '..', empty parts or control characters, of at most "
                    + LIMITS);
        }
    }

    private static int octets(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
