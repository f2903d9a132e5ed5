package dev.siphon.node.tar;

import dev.siphon.csi.DriverException;
import java.util.ArrayList;
import java.util.List;

/// A member's name, part by part.
public final class TarPath {
    /// No tool makes longer ones; each part of one may become a directory.
    private static final int MAX_CHARS = 65_536;

    private TarPath() {}

    /// The parts of `path` but the first `strip`; none for the tree's root, or for what has no more parts than
    /// that. Slashes at its beginning mean nothing, as for tar.
    ///
    /// @param offset where the member is, for the message
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) for a path that leads upwards
    public static List<String> parts(String path, int strip, long offset) {
        if (path.length() > MAX_CHARS) {
            throw MalformedTar.refused(offset, path, "has a name of " + path.length() + " bytes: rename it");
        }
        if (path.indexOf('\0') >= 0) {
            throw MalformedTar.refused(offset, path, "has a zero in its name, which no file can have");
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

    /// For people.
    public static String quoted(String path) {
        return MalformedTar.quoted(path);
    }

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) always
    public static DriverException refused(TarMember member, String why) {
        return MalformedTar.refused(member.offset(), member.path(), why);
    }
}
