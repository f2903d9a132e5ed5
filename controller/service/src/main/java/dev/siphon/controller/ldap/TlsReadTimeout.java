package dev.siphon.controller.ldap;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import javax.net.ssl.SSLSocketFactory;

/// Adds a read timeout to TLS that already covers the handshake. The SDK sets its own timeout only afterwards, and
/// everyone who connects meanwhile waits: a server that accepts and stays silent would block all for ever.
final class TlsReadTimeout extends SSLSocketFactory {
    private final SSLSocketFactory tls;
    private final int millis;

    /// @param patience how long the server may be silent; the SDK later replaces it with its own limit
    TlsReadTimeout(SSLSocketFactory tls, Duration patience) {
        this.tls = tls;
        this.millis = Math.max(1, (int) patience.toMillis());
    }

    /// Sets the timeout. A TLS socket reads nothing before its handshake, so this is early enough.
    private Socket impatient(Socket socket) throws SocketException {
        socket.setSoTimeout(millis);
        return socket;
    }

    @Override
    public Socket createSocket() throws IOException {
        return impatient(tls.createSocket());
    }

    @Override
    public Socket createSocket(Socket over, String host, int port, boolean autoClose) throws IOException {
        return impatient(tls.createSocket(over, host, port, autoClose));
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return impatient(tls.createSocket(host, port));
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress from, int fromPort) throws IOException {
        return impatient(tls.createSocket(host, port, from, fromPort));
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return impatient(tls.createSocket(host, port));
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress from, int fromPort) throws IOException {
        return impatient(tls.createSocket(host, port, from, fromPort));
    }

    @Override
    public String[] getDefaultCipherSuites() {
        return tls.getDefaultCipherSuites();
    }

    @Override
    public String[] getSupportedCipherSuites() {
        return tls.getSupportedCipherSuites();
    }
}
