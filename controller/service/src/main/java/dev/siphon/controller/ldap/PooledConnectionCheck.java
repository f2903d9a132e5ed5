package dev.siphon.controller.ldap;

import com.unboundid.ldap.sdk.GetEntryLDAPConnectionPoolHealthCheck;
import com.unboundid.ldap.sdk.LDAPConnection;
import com.unboundid.ldap.sdk.LDAPConnectionPoolHealthCheck;
import com.unboundid.ldap.sdk.LDAPException;
import java.time.Duration;

/// Checks whether idle pooled connections still work. The SDK calls it periodically on a thread of the pool, which
/// a server that trickles its reply must not block.
final class PooledConnectionCheck extends LDAPConnectionPoolHealthCheck {
    private final ConnectionWatchdog watchdog;
    private final Duration limit;
    private final LDAPConnectionPoolHealthCheck check;

    /// @param limit total time for a reply
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
