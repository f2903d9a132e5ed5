package dev.siphon.controller.ldap;

import com.unboundid.ldap.sdk.LDAPConnection;
import com.unboundid.ldap.sdk.LDAPConnectionOptions;
import com.unboundid.ldap.sdk.LDAPConnectionPoolHealthCheck;
import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.PostConnectProcessor;
import com.unboundid.ldap.sdk.ServerSet;
import com.unboundid.ldap.sdk.SimpleBindRequest;
import java.time.Duration;
import java.util.Optional;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/// Connects to one server, and limits the total time to connect, start TLS and bind. The SDK's own set limits only
/// each read.
final class DeadlineServerSet extends ServerSet {
    private final LdapServer server;
    private final How how;
    private final ConnectionWatchdog watchdog;

    /// How to open a connection.
    ///
    /// @param tls TLS from the first byte; empty for none
    /// @param limit total time to open it
    record How(
            Optional<SSLSocketFactory> tls,
            LDAPConnectionOptions options,
            SimpleBindRequest bind,
            PostConnectProcessor protect,
            Duration limit) {}

    DeadlineServerSet(LdapServer server, How how, ConnectionWatchdog watchdog) {
        this.server = server;
        this.how = how;
        this.watchdog = watchdog;
    }

    @Override
    public boolean includesAuthentication() {
        return true;
    }

    @Override
    public boolean includesPostConnectProcessing() {
        return true;
    }

    @Override
    public LDAPConnection getConnection() throws LDAPException {
        return getConnection(null);
    }

    @Override
    public LDAPConnection getConnection(@Nullable LDAPConnectionPoolHealthCheck check) throws LDAPException {
        int connectMillis = how.options().getConnectTimeoutMillis();
        AbortableSocket socket = new AbortableSocket(server, how.tls(), Duration.ofMillis(connectMillis));
        LDAPConnection connection = new LDAPConnection(socket, how.options());
        boolean good = false;
        try (ConnectionWatchdog.Watch _ = watchdog.over(socket, LookupDeadline.in(how.limit()))) {
            connection.connect(server.host(), server.port(), connectMillis);
            doBindPostConnectAndHealthCheckProcessing(connection, how.bind(), how.protect(), check);
            associateConnectionWithThisServerSet(connection);
            good = true;
            return connection;
        } finally {
            if (!good) {
                // a thread of the SDK may still run the handshake
                socket.cut();
                connection.closeWithoutUnbind();
            }
        }
    }

    @Override
    public void toString(StringBuilder text) {
        text.append(server);
    }
}
