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

/// One server, connected to, protected and bound to within a time in all: the SDK's own set limits each read only.
final class DeadlineServerSet extends ServerSet {
    private final LdapServer server;
    private final How how;
    private final ConnectionWatchdog watchdog;

    /// How to get a connection.
    ///
    /// @param tls from the first byte on; empty for none
    /// @param limit what all of it may take
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
                // a thread of the SDK's may still be at the handshake
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
