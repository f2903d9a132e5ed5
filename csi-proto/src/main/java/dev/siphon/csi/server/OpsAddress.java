package dev.siphon.csi.server;

import dev.siphon.csi.QuotedText;
import java.net.InetSocketAddress;

/// Where the HTTP server for operators listens.
///
/// @param host a name or an address of this machine
/// @param port a TCP port; 0 takes a free one
public record OpsAddress(String host, int port) {
    private static final int MAX_PORT = 65_535;

    /// @throws IllegalArgumentException if `host` is empty or `port` is none
    public OpsAddress {
        if (host.isBlank()) {
            throw new IllegalArgumentException("host " + QuotedText.of(host) + " must not be empty");
        }
        if (port < 0 || port > MAX_PORT) {
            throw new IllegalArgumentException("port " + port + " must be 0 to " + MAX_PORT);
        }
    }

    /// @throws StartFailure if the host's name has no address
    InetSocketAddress resolve() {
        InetSocketAddress address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw new StartFailure("the host " + QuotedText.of(host) + " has no address");
        }
        return address;
    }

    @Override
    public String toString() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }
}
