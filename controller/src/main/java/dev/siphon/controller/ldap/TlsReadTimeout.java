package dev.siphon.controller.ldap;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import javax.net.ssl.SSLSocketFactory;

/// TLS that fails when a server says nothing for a while, in the handshake too. The SDK limits what it
/// reads only after that, and whoever connects meanwhile waits: a server that accepts and stays silent
/// would hold up all for ever.
final class TlsReadTimeout extends SSLSocketFactory {
    private final SSLSocketFactory tls;
    private final int millis;

    /// @param patience how long the server may be silent; the SDK puts its own limits in place of it later
    TlsReadTimeout(SSLSocketFactory tls, Duration patience) {
        this.tls = tls;
        this.millis = Math.max(1, (int) patience.toMillis());
    }

    /// No TLS socket reads from the server before its handshake, so it is not too late.
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
