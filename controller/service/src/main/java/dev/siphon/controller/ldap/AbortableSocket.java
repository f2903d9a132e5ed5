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

/// Opens the TCP socket of one connection of the LDAP SDK, and can cut it at any time. The SDK cannot: closing TLS
/// waits for the server, and a connection that is still being opened has nothing to close.
final class AbortableSocket extends SocketFactory {
    private final Socket raw = new Socket();
    private final LdapServer server;
    private final Optional<SSLSocketFactory> tls;
    private final int connectMillis;

    /// @param tls TLS from the first byte; empty for plain TCP, and for StartTLS, which the SDK adds later
    /// @param patience time limit for the server to accept the connection
    AbortableSocket(LdapServer server, Optional<SSLSocketFactory> tls, Duration patience) {
        this.server = server;
        this.tls = tls;
        this.connectMillis = Math.max(1, (int) patience.toMillis());
    }

    /// Returns the socket under a connection.
    static AbortableSocket of(LDAPConnection connection) {
        if (connection.getSocketFactory() instanceof AbortableSocket socket) {
            return socket;
        }
        throw new IllegalStateException("every connection has a wire");
    }

    /// Ends all current and future waits for the server at once.
    void cut() {
        try {
            raw.close();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    /// Always fails: TLS can only wrap a connected socket. The SDK tries this method first.
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
