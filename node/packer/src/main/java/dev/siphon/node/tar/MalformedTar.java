package dev.siphon.node.tar;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.nio.charset.StandardCharsets;

/// Errors in a tar. They are INVALID_ARGUMENT, because a retry does not help.
final class MalformedTar {
    private MalformedTar() {}

    /// @param offset in the tar, in bytes
    static DriverException at(long offset, String what) {
        return new DriverException.InvalidRequest("the tar is damaged at byte " + offset + ": " + what);
    }

    /// The tar is truncated.
    static DriverException cutOff(long size, String where) {
        return new DriverException.InvalidRequest(
                "the tar ends after " + size + " bytes " + where + " without an end mark: it was cut off");
    }

    /// A valid member that this reader does not support.
    static DriverException refused(long offset, String path, String why) {
        return new DriverException.InvalidRequest(
                "the member " + quoted(path) + " of the tar, at byte " + offset + ", " + why);
    }

    /// Quotes a name for people.
    static String quoted(String path) {
        return QuotedText.of(new String(path.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8));
    }
}
