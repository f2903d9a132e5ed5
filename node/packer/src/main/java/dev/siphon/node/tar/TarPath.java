package dev.siphon.node.tar;

import dev.siphon.csi.DriverException;
import java.util.ArrayList;
import java.util.List;

/// Splits a member's name into its parts.
public final class TarPath {
    /// A limit, because each part may become a directory. No tool makes longer names.
    private static final int MAX_CHARS = 65_536;

    private TarPath() {}

    /// Returns the parts of `path` without the first `strip`; none for the root, or if it has too few parts.
    /// Ignores leading slashes, as tar does.
    ///
    /// @param offset of the member, for the message
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the path contains `..` or a zero byte, or is
    ///     too long
    public static List<String> parts(String path, int strip, long offset) {
        if (path.length() > MAX_CHARS) {
            throw MalformedTar.refused(offset, path, "has a name of " + path.length() + " bytes: rename it");
        }
        if (path.indexOf('\0') >= 0) {
            throw MalformedTar.refused(offset, path, "has a NUL byte in its name, which no file can have");
        }
        List<String> parts = new ArrayList<>();
        for (int start = 0; start < path.length(); ) {
            int slash = path.indexOf('/', start);
            int end = slash < 0 ? path.length() : slash;
            String part = path.substring(start, end);
            if (part.equals("..")) {
                throw MalformedTar.refused(offset, path, "leads upwards: make the tar without \"..\" in names");
            }
            if (!part.isEmpty() && !part.equals(".")) {
                parts.add(part);
            }
            start = end + 1;
        }
        return parts.subList(Math.min(strip, parts.size()), parts.size());
    }

    /// Quotes a path for people.
    public static String quoted(String path) {
        return MalformedTar.quoted(path);
    }

    /// @return the error INVALID_ARGUMENT for a member that is not supported
    public static DriverException refused(TarMember member, String why) {
        return MalformedTar.refused(member.offset(), member.path(), why);
    }
}
