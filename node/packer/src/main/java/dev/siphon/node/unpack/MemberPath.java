package dev.siphon.node.unpack;

import dev.siphon.csi.QuotedText;
import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.fetch.FetchFailure.Reason;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// A path in a tree, relative to its root, without `.`, `..` and doubled slashes. Its names have any bytes that a file
/// system takes.
///
/// @param octets each character is one byte (ISO 8859-1); empty for the root
record MemberPath(String octets) {
    /// A part of `PATH_MAX`: the rest is for where the tree lies.
    private static final int MAX_BYTES = 3800;

    /// `NAME_MAX`
    private static final int MAX_NAME_BYTES = 255;

    private static final int SHOWN_CHARS = 150;

    static MemberPath of(byte[] octets) {
        return parse(new String(octets, StandardCharsets.ISO_8859_1));
    }

    /// @param octets each character is one byte
    /// @throws FetchFailure UnsafeArchive for a path that leads out of the tree, or that no file system takes
    static MemberPath parse(String octets) {
        if (octets.startsWith("/")) {
            throw refused(octets, "has an absolute path: make the archive with relative ones");
        }
        if (octets.indexOf('\0') >= 0) {
            throw refused(octets, "has a NUL byte in its name, which no file can have");
        }
        List<String> parts = new ArrayList<>();
        for (String part : octets.split("/", -1)) {
            if (part.equals("..")) {
                throw refused(octets, "leads upwards: make the archive without \"..\" in names");
            }
            if (part.length() > MAX_NAME_BYTES) {
                throw refused(octets, "has a name of " + part.length() + " bytes, and 255 is the limit: rename it");
            }
            if (!part.isEmpty() && !part.equals(".")) {
                parts.add(part);
            }
        }
        String path = String.join("/", parts);
        if (path.length() > MAX_BYTES) {
            throw refused(
                    octets,
                    "has a path of " + path.length() + " bytes, and " + MAX_BYTES + " is the limit: shorten it");
        }
        return new MemberPath(path);
    }

    boolean isRoot() {
        return octets.isEmpty();
    }

    byte[] bytes() {
        return octets.getBytes(StandardCharsets.ISO_8859_1);
    }

    /// Returns a path below this one.
    MemberPath below(byte[] name) {
        String last = new String(name, StandardCharsets.ISO_8859_1);
        return parse(isRoot() ? last : octets + "/" + last);
    }

    /// Checks the target of a symbolic link with this path, as far as it can be without a tree.
    ///
    /// @param target each character is one byte
    /// @return whether it goes up again after a name: where that leads depends on what has the name
    /// @throws FetchFailure UnsafeArchive if it leads out of the tree
    boolean checkTarget(String target) {
        if (target.isEmpty() || target.length() > MAX_BYTES || target.indexOf('\0') >= 0) {
            throw refused(octets, "is a symbolic link whose target is empty or longer than " + MAX_BYTES + " bytes");
        }
        if (target.startsWith("/")) {
            throw outside(target);
        }
        long depth = octets.chars().filter(each -> each == '/').count();
        boolean afterName = false;
        boolean isUncertain = false;
        for (String part : target.split("/", -1)) {
            if (part.equals("..")) {
                depth--;
                isUncertain |= afterName;
            } else if (!part.isEmpty() && !part.equals(".")) {
                depth++;
                afterName = true;
            }
            if (depth < 0) {
                throw outside(target);
            }
        }
        return isUncertain;
    }

    /// The error for a symbolic link out of the tree.
    FetchFailure outside(String target) {
        return refused(
                octets,
                "is a symbolic link to " + quoted(target) + ", outside of the tree: leave it out, or make it relative");
    }

    /// The error UnsafeArchive for this path.
    FetchFailure refused(String why) {
        return refused(octets, why);
    }

    /// Returns the path for people.
    String shown() {
        return isRoot() ? "\".\"" : quoted(octets);
    }

    private static FetchFailure refused(String octets, String why) {
        return new FetchFailure(Reason.UNSAFE_ARCHIVE, quoted(octets) + " " + why);
    }

    /// Quotes bytes for people. Keeps the end of a long path, because that distinguishes it from others.
    static String quoted(String octets) {
        String text = new String(octets.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
        return text.length() <= SHOWN_CHARS
                ? QuotedText.of(text)
                : "..." + QuotedText.of(text.substring(text.length() - SHOWN_CHARS));
    }
}
