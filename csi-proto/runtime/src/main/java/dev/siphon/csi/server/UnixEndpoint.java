package dev.siphon.csi.server;

import dev.siphon.csi.QuotedText;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// The place of a CSI socket, in the sidecars' notation: `unix:///PATH`, `unix:/PATH` or `/PATH`.
///
/// @param path absolute and normalized, with room for the longer name under which the server first binds
public record UnixEndpoint(Path path) {
    /// The longest path of a unix socket in bytes, without its final NUL (unix(7), `sun_path`).
    static final int MAX_PATH_BYTES = 107;

    public UnixEndpoint {
        if (!path.isAbsolute() || path.getParent() == null) {
            throw new IllegalArgumentException(
                    "socket " + QuotedText.of(path.toString()) + " must be an absolute path");
        }
        path = path.normalize();
        int needed = Math.max(bytes(path), bytes(path.resolveSibling(SocketFile.LONGEST_SIBLING)));
        if (needed > MAX_PATH_BYTES) {
            throw new IllegalArgumentException("socket " + QuotedText.of(path.toString()) + " is too long: it needs "
                    + needed + " bytes of at most " + MAX_PATH_BYTES);
        }
    }

    /// Parses an endpoint.
    ///
    /// @throws IllegalArgumentException if `text` has another format or is no absolute path
    public static UnixEndpoint parse(String text) {
        if (text.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("endpoint " + QuotedText.of(text) + " holds a NUL character");
        }
        String path =
                text.startsWith("unix://") ? text.substring(7) : text.startsWith("unix:") ? text.substring(5) : text;
        if (!path.startsWith("/")) {
            throw new IllegalArgumentException(
                    "endpoint " + QuotedText.of(text) + " must be unix:///PATH, unix:/PATH or an absolute path");
        }
        return new UnixEndpoint(Path.of(path));
    }

    private static int bytes(Path path) {
        return path.toString().getBytes(StandardCharsets.UTF_8).length;
    }

    @Override
    public String toString() {
        return "unix://" + path;
    }
}
