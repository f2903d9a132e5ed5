package dev.siphon.csi.server;

import dev.siphon.csi.DriverException;
import java.util.Optional;

/// Who may ask an [HttpServer] for what.
@FunctionalInterface
public interface HttpAuth {
    /// For servers that only those reach who may ask for all that there is.
    HttpAuth ALL = (_, _) -> true;

    /// What comes before the token in the header.
    String BEARER = "Bearer ";

    /// Whether `call` is answered.
    ///
    /// @param authorization the header `Authorization`, as the peer sent it
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if that cannot be found out now
    boolean admits(HttpCall call, Optional<String> authorization);

    /// The token of an `Authorization` header (RFC 6750, section 2.1).
    static Optional<String> token(Optional<String> authorization) {
        return authorization
                .filter(value -> value.startsWith(BEARER))
                .map(value -> value.substring(BEARER.length()).strip());
    }
}
