package dev.siphon.csi;

/// The rules for a path inside a Ceph file system that comes from the wire.
public final class CephPath {
    private CephPath() {}

    /// Whether `path` is absolute, has no `.`, `..` or empty part, no `.snap` (snapshots have ids of their own),
    /// and no control character.
    public static boolean isClean(String path) {
        if (!path.startsWith("/") || path.length() == 1 || path.codePoints().anyMatch(Character::isISOControl)) {
            return false;
        }
        for (String part : path.substring(1).split("/", -1)) {
            if (part.isEmpty() || part.equals(".") || part.equals("..") || part.equals(".snap")) {
                return false;
            }
        }
        return true;
    }

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `path` is not clean
    public static void check(String path) {
        if (!isClean(path)) {
            throw new DriverException.InvalidRequest("path " + Quoted.of(path)
                    + " must be absolute, without '.', '..', '.snap', empty parts or control characters");
        }
    }

    /// As [#check], for a path below another: without leading `/`, and with `.snap` allowed, since only the
    /// controller writes such a path.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `path` is not clean
    public static void checkRelative(String path) {
        if (!isClean("/" + path.replaceFirst("/\\.snap/", "/"))) {
            throw new DriverException.InvalidRequest("path " + Quoted.of(path)
                    + " must be relative, without '.', '..', empty parts or control characters");
        }
    }
}
