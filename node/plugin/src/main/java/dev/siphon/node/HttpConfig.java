package dev.siphon.node;

import dev.siphon.csi.server.BearerTokenAuth;
import dev.siphon.csi.server.OpsAddress;
import dev.siphon.csi.server.UnixEndpoint;
import java.util.Optional;

/// Where the node serves datasets to programs by HTTP; [HttpOptions] reads it from flags.
///
/// @param socket for root
/// @param remote for clients with a token; empty to serve nothing by TCP
public record HttpConfig(UnixEndpoint socket, Optional<Remote> remote) {
    /// HTTP by TCP.
    public record Remote(OpsAddress address, BearerTokenAuth auth) {}
}
