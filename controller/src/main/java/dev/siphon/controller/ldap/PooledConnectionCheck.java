package dev.siphon.controller.ldap;

import com.unboundid.ldap.sdk.GetEntryLDAPConnectionPoolHealthCheck;
import com.unboundid.ldap.sdk.LDAPConnection;
import com.unboundid.ldap.sdk.LDAPConnectionPoolHealthCheck;
import com.unboundid.ldap.sdk.LDAPException;
import java.time.Duration;

/// Whether connections that wait in the pool still work: the SDK asks them now and then, by a thread of the pool's,
/// which a server that trickles its answer must not keep.
final class PooledConnectionCheck extends LDAPConnectionPoolHealthCheck {
    private final ConnectionWatchdog watchdog;
    private final Duration limit;
    private final LDAPConnectionPoolHealthCheck check;

    /// @param limit what all of an answer may take
    PooledConnectionCheck(ConnectionWatchdog watchdog, Duration limit) {
        this.watchdog = watchdog;
        this.limit = limit;
        this.check = new GetEntryLDAPConnectionPoolHealthCheck("", limit.toMillis(), false, false, false, true, false);
    }

    @Override
    public void ensureConnectionValidForContinuedUse(LDAPConnection connection) throws LDAPException {
        try (ConnectionWatchdog.Watch _ = watchdog.over(AbortableSocket.of(connection), LookupDeadline.in(limit))) {
            check.ensureConnectionValidForContinuedUse(connection);
        }
    }
}
