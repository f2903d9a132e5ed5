package dev.siphon.node;

import dev.siphon.csi.server.BearerTokenAuth;
import dev.siphon.csi.server.OpsAddress;
import dev.siphon.csi.server.UnixEndpoint;
import java.util.Optional;

/// Where programs ask this node for datasets by HTTP; [HttpOptions] makes one from flags.
///
/// @param socket for root
/// @param remote for who has a token; empty if nobody is served by TCP
public record HttpConfig(UnixEndpoint socket, Optional<Remote> remote) {
    /// By TCP.
    public record Remote(OpsAddress address, BearerTokenAuth door) {}
}
