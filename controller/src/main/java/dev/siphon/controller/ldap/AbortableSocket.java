package dev.siphon.controller.ldap;

import com.unboundid.ldap.sdk.LDAPConnection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.Optional;
import javax.net.SocketFactory;
import javax.net.ssl.SSLSocketFactory;

/// The TCP connection under one connection of the SDK, which can be cut at any time: TLS waits for the server when
/// it is closed, and of a connection that is still being made the SDK has nothing to close.
final class AbortableSocket extends SocketFactory {
    private final Socket raw = new Socket();
    private final LdapServer server;
    private final Optional<SSLSocketFactory> tls;
    private final int connectMillis;

    /// @param tls from the first byte on; empty for none, or for StartTLS, which the SDK puts over it
    /// @param patience how long the server may take to accept
    AbortableSocket(LdapServer server, Optional<SSLSocketFactory> tls, Duration patience) {
        this.server = server;
        this.tls = tls;
        this.connectMillis = Math.max(1, (int) patience.toMillis());
    }

    /// That of a connection.
    static AbortableSocket of(LDAPConnection connection) {
        if (connection.getSocketFactory() instanceof AbortableSocket socket) {
            return socket;
        }
        throw new IllegalStateException("every connection has a wire");
    }

    /// Ends at once all that waits for the server, now and later.
    void cut() {
        try {
            raw.close();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    /// The SDK asks for this first; TLS can be laid over a socket that is connected, and no other.
    @Override
    public Socket createSocket() throws IOException {
        throw new SocketException("it is connected when it is made");
    }

    @Override
    public Socket createSocket(InetAddress address, int port) throws IOException {
        raw.connect(new InetSocketAddress(address, port), connectMillis);
        return tls.isPresent() ? tls.get().createSocket(raw, server.host(), port, true) : raw;
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return createSocket(InetAddress.getByName(host), port);
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress from, int fromPort) throws IOException {
        raw.bind(new InetSocketAddress(from, fromPort));
        return createSocket(host, port);
    }

    @Override
    public Socket createSocket(InetAddress address, int port, InetAddress from, int fromPort) throws IOException {
        raw.bind(new InetSocketAddress(from, fromPort));
        return createSocket(address, port);
    }
}
