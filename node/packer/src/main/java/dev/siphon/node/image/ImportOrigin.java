package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.node.fetch.WebAddress;
import java.nio.file.Path;

/// The origin of an import.
public sealed interface ImportOrigin {
    /// A local directory or tar.
    ///
    /// @param path absolute
    record Local(Path path) implements ImportOrigin {
        public Local {
            path = path.toAbsolutePath().normalize();
        }
    }

    /// A tar on a server.
    record Remote(WebAddress address) implements ImportOrigin {}

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) for an address that is not `http` or `https`, or
    ///     contains credentials
    static ImportOrigin parse(String text) {
        return WebAddress.looksLike(text) ? new Remote(WebAddress.parse(text)) : new Local(Path.of(text));
    }
}
