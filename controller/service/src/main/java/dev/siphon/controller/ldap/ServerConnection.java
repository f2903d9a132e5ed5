package dev.siphon.controller.ldap;

import com.unboundid.ldap.sdk.BindResult;
import com.unboundid.ldap.sdk.LDAPConnection;
import com.unboundid.ldap.sdk.LDAPConnectionOptions;
import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.SimpleBindRequest;
import com.unboundid.ldap.sdk.StartTLSPostConnectProcessor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.net.SocketFactory;
import javax.net.ssl.SSLContext;

/// A connection to one LDAP server. Closes its TCP socket when a deadline passes, which ends all waits for the
/// server.
///
/// The SDK limits only how long a server may be silent: one that sends a byte now and then would block a
/// lookup for ever. Nor can the SDK close a connection at once: closing TLS waits for the server, and a
/// connection that is being opened has nothing to close yet. So this class opens the socket below TLS itself,
/// and closes that.
final class ServerConnection extends SocketFactory implements AutoCloseable {
    private final LdapServer server;
    private final SSLContext tls;
    private final ScheduledExecutorService timer;
    private final Socket socket = new Socket();
    private final LDAPConnection connection;

    /// What the connection is used for.
    @FunctionalInterface
    interface Use<T> {
        T with(LDAPConnection connection) throws LDAPException;
    }

    /// Prepares the connection; [#open] connects.
    ///
    /// @param timer closes the socket, which never blocks
    ServerConnection(LdapServer server, SSLContext tls, LDAPConnectionOptions options, ScheduledExecutorService timer) {
        this.server = server;
        this.tls = tls;
        this.timer = timer;
        this.connection = new LDAPConnection(this, options);
    }

    /// Connects, starts TLS and binds. The connection is of no use after a failure.
    void open(SimpleBindRequest bind, LookupDeadline end) throws LDAPException {
        BindResult _ = until(end, opening -> {
            opening.connect(server.host(), server.port());
            if (server.protection() == LdapServer.Protection.START_TLS) {
                // the SDK locks the socket factory during a handshake; the context gives each connection its own
                new StartTLSPostConnectProcessor(tls).processPreAuthenticatedConnection(opening);
            }
            return opening.bind(bind.duplicate());
        });
    }

    /// Uses the connection, and cuts it if that takes longer than `end`.
    <T> T until(LookupDeadline end, Use<T> use) throws LDAPException {
        Future<?> cutting = timer.schedule(this::cut, end.left().toNanos(), TimeUnit.NANOSECONDS);
        try {
            return use.with(connection);
        } finally {
            cutting.cancel(false);
        }
    }

    boolean isCut() {
        return socket.isClosed();
    }

    /// Ends all current and future waits for the server at once, on any thread.
    void cut() {
        try {
            socket.close();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    /// Frees what the SDK holds, on the thread that uses the connection. Sends nothing to the server, which may
    /// hang.
    @Override
    public void close() {
        cut();
        connection.closeWithoutUnbind();
    }

    @Override
    public Socket createSocket(InetAddress address, int port) throws IOException {
        int patience = connection.getConnectionOptions().getConnectTimeoutMillis();
        socket.connect(new InetSocketAddress(address, port), patience);
        if (server.protection() != LdapServer.Protection.TLS) {
            return socket;
        }
        // for the handshake; the SDK sets its own limit only afterwards
        socket.setSoTimeout(patience);
        return tls.getSocketFactory().createSocket(socket, server.host(), port, true);
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return createSocket(InetAddress.getByName(host), port);
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress from, int fromPort) throws IOException {
        return createSocket(InetAddress.getByName(host), port, from, fromPort);
    }

    @Override
    public Socket createSocket(InetAddress address, int port, InetAddress from, int fromPort) throws IOException {
        socket.bind(new InetSocketAddress(from, fromPort));
        return createSocket(address, port);
    }
}
