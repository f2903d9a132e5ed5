package dev.siphon.csi.server;

import dev.siphon.csi.QuotedText;
import java.net.InetSocketAddress;

/// The address of the HTTP server for operators.
///
/// @param host a name or an address of this machine
/// @param port a TCP port; 0 selects a free one
public record OpsAddress(String host, int port) {
    private static final int MAX_PORT = 65_535;

    /// @throws IllegalArgumentException if `host` is empty or `port` is out of range
    public OpsAddress {
        if (host.isBlank()) {
            throw new IllegalArgumentException("host " + QuotedText.of(host) + " must not be empty");
        }
        if (port < 0 || port > MAX_PORT) {
            throw new IllegalArgumentException("port " + port + " must be 0 to " + MAX_PORT);
        }
    }

    /// Resolves the host.
    ///
    /// @throws StartFailure if its name has no address
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
