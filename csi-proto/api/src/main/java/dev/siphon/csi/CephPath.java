package dev.siphon.csi;

import java.nio.charset.StandardCharsets;

/// Validates paths inside a Ceph file system that come from the wire.
public final class CephPath {
    /// `NAME_MAX` of `linux/limits.h`; CephFS has the same limit.
    private static final int MAX_PART_BYTES = 255;

    /// Three quarters of `PATH_MAX`: a node prepends a directory of its own.
    private static final int MAX_BYTES = 3072;

    private static final String LIMITS = MAX_BYTES + " bytes, " + MAX_PART_BYTES + " in each part";

    private CephPath() {}

    /// Checks that `path` is absolute, and has no control character and no `.`, `..`, `.snap`, empty or too long
    /// part. Snapshots are reached by their own ids, not by `.snap`.
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

    /// Checks an absolute path.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `path` is not clean
    public static void check(String path) {
        if (!isClean(path)) {
            throw new DriverException.InvalidRequest("path " + QuotedText.of(path)
                    + " must be absolute, without '.', '..', '.snap', empty parts or control characters, of at most "
                    + LIMITS);
        }
    }

    /// Checks a path below another one, as [#check] but without leading `/`. Allows `.snap`, since only the
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
