package dev.siphon.csi.server;

import dev.siphon.csi.DriverException;
import java.util.Optional;

/// Decides which requests an [HttpServer] serves.
@FunctionalInterface
public interface HttpAuth {
    /// Admits every request: for servers on which every peer may request everything.
    HttpAuth ALL = (_, _) -> true;

    /// The prefix of the token in the header.
    String BEARER = "Bearer ";

    /// Checks whether `call` is allowed.
    ///
    /// @param authorization the header `Authorization`, as the peer sent it
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if this cannot be decided now
    boolean admits(HttpCall call, Optional<String> authorization);

    /// Returns the token of an `Authorization` header (RFC 6750, section 2.1).
    static Optional<String> token(Optional<String> authorization) {
        return authorization
                .filter(value -> value.startsWith(BEARER))
                .map(value -> value.substring(BEARER.length()).strip());
    }
}
