package dev.siphon.controller.ldap;

import com.unboundid.asn1.ASN1OctetString;
import com.unboundid.ldap.sdk.DereferencePolicy;
import com.unboundid.ldap.sdk.FailoverServerSet;
import com.unboundid.ldap.sdk.Filter;
import com.unboundid.ldap.sdk.LDAPConnection;
import com.unboundid.ldap.sdk.LDAPConnectionOptions;
import com.unboundid.ldap.sdk.LDAPConnectionPool;
import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.LDAPSearchException;
import com.unboundid.ldap.sdk.PostConnectProcessor;
import com.unboundid.ldap.sdk.ResultCode;
import com.unboundid.ldap.sdk.SearchRequest;
import com.unboundid.ldap.sdk.SearchResult;
import com.unboundid.ldap.sdk.SearchResultEntry;
import com.unboundid.ldap.sdk.SearchScope;
import com.unboundid.ldap.sdk.ServerSet;
import com.unboundid.ldap.sdk.SimpleBindRequest;
import com.unboundid.ldap.sdk.StartTLSPostConnectProcessor;
import com.unboundid.ldap.sdk.controls.SimplePagedResultsControl;
import com.unboundid.util.ssl.HostNameSSLSocketVerifier;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/// Searches the LDAP servers over pooled, bound and protected connections, within a time limit.
///
/// Each connection serves one lookup at a time. Lookups beyond the number of connections wait for their turn. When
/// a connection fails, it is closed with all idle ones, which most likely lead to the same server. The search is
/// then retried once on a new connection, to the first server that accepts the bind. Referrals and aliases are not
/// followed: they would send the password or the query elsewhere.
final class LdapConnections implements AutoCloseable {
    private static final Duration HEALTH_CHECK = Duration.ofSeconds(30);
    private static final int TRIES = 2;

    /// The largest entry that is read, in bytes. The SDK uses about five times as much memory for it.
    private static final int MOST_BYTES = 2 << 20;

    /// Memory limit for the kept entries of one lookup, in bytes; see [EntryStream#bytes].
    private static final long MOST_KEPT_BYTES = 8 << 20;

    private final LdapConfig.Limits limits;
    private final List<LdapServer> servers;
    private final Supplier<LDAPConnectionPool> pools;
    private final AtomicReference<LDAPConnectionPool> pool;
    private final Semaphore turns;
    private final ConnectionWatchdog watchdog;

    /// A search.
    ///
    /// @param attributes the attributes to return of each entry
    record Search(String base, SearchScope scope, Filter filter, List<String> attributes) {
        Search {
            attributes = List.copyOf(attributes);
        }
    }

    /// Leaves a connection as it is. Servers with and without StartTLS can be mixed only if all have a processor.
    private record Untouched() implements PostConnectProcessor {
        @Override
        public void processPreAuthenticatedConnection(LDAPConnection connection) {
            // protected from its first byte, or not at all
        }

        @Override
        public void processPostAuthenticatedConnection(LDAPConnection connection) {
            // nothing is left to do
        }
    }

    private LdapConnections(LdapConfig config, Supplier<LDAPConnectionPool> pools, ConnectionWatchdog watchdog) {
        this.limits = config.limits();
        this.servers = config.servers();
        this.pools = pools;
        this.pool = new AtomicReference<>(pools.get());
        this.turns = new Semaphore(limits.connections(), true);
        this.watchdog = watchdog;
    }

    /// Prepares the pool; the first search connects.
    ///
    /// @throws IllegalArgumentException if the CA file cannot be used
    static LdapConnections open(LdapConfig config) {
        SSLContext tls = ServerTrust.context(config.caFile());
        SimpleBindRequest bind = config.bind()
                .map(who -> new SimpleBindRequest(who.dn(), new PasswordFile(who.passwordFile())))
                .orElseGet(SimpleBindRequest::new);
        ConnectionWatchdog watchdog = new ConnectionWatchdog();
        List<ServerSet> sets = config.servers().stream()
                .<ServerSet>map(server ->
                        new DeadlineServerSet(server, how(server.protection(), config.limits(), bind, tls), watchdog))
                .toList();
        FailoverServerSet all = new FailoverServerSet(sets);
        all.setReOrderOnFailover(true);
        return new LdapConnections(config, () -> pool(all, bind, config.limits(), watchdog), watchdog);
    }

    private static LDAPConnectionPool pool(
            ServerSet servers, SimpleBindRequest bind, LdapConfig.Limits limits, ConnectionWatchdog watchdog) {
        try {
            // the server sets bind, not the pool, so that a refused bind fails over to the next server
            LDAPConnectionPool pool = new LDAPConnectionPool(servers, bind, 0, limits.connections());
            pool.setConnectionPoolName("ldap");
            pool.setRetryFailedOperationsDueToInvalidConnections(false);
            pool.setHealthCheck(new PooledConnectionCheck(watchdog, limits.step()));
            pool.setHealthCheckIntervalMillis(HEALTH_CHECK.toMillis());
            return pool;
        } catch (LDAPException impossible) {
            throw new IllegalStateException("a pool without connections connects to nothing", impossible);
        }
    }

    private static DeadlineServerSet.How how(
            LdapServer.Protection protection, LdapConfig.Limits limits, SimpleBindRequest bind, SSLContext tls) {
        Duration step = limits.step();
        SSLSocketFactory impatient = new TlsReadTimeout(tls.getSocketFactory(), step);
        Optional<SSLSocketFactory> first =
                protection == LdapServer.Protection.TLS ? Optional.of(impatient) : Optional.empty();
        PostConnectProcessor protect = protection == LdapServer.Protection.START_TLS
                ? new StartTLSPostConnectProcessor(impatient)
                : new Untouched();
        // a server that uses up this limit leaves one step for the next one
        return new DeadlineServerSet.How(
                first, options(step), bind, protect, limits.lookup().minus(step));
    }

    private static LDAPConnectionOptions options(Duration step) {
        LDAPConnectionOptions options = new LDAPConnectionOptions();
        options.setConnectTimeoutMillis((int) step.toMillis());
        options.setResponseTimeoutMillis(step.toMillis());
        options.setUseSynchronousMode(true);
        // each connection has a factory of its own, see AbortableSocket
        options.setAllowConcurrentSocketFactoryUse(true);
        options.setFollowReferrals(false);
        options.setAbandonOnTimeout(false);
        options.setUseSchema(false);
        options.setMaxMessageSize(MOST_BYTES);
        // the certificate must match the configured host; only 127.0.0.0/8 and ::1 are exempt
        options.setSSLSocketVerifier(new HostNameSSLSocketVerifier(true));
        return options;
    }

    /// Returns all entries that match, with paged searches. Meant for few entries, as all are kept in memory.
    ///
    /// @throws DriverException.BackendUnavailable if no server answers in time
    /// @throws DriverException.BackendFault if they are too many to keep
    List<SearchResultEntry> all(Search search) {
        return use(limits.lookup(), (connection, end) -> {
            List<SearchResultEntry> entries = new ArrayList<>();
            AtomicLong bytes = new AtomicLong();
            pages(connection, search, end, entry -> {
                if (bytes.addAndGet(EntryStream.bytes(entry)) > MOST_KEPT_BYTES) {
                    throw new DriverException.BackendFault("LDAP has more entries than can be kept (" + MOST_KEPT_BYTES
                            + " bytes) for " + QuotedText.of(search.filter().toString()));
                }
                entries.add(entry);
            });
            return entries;
        });
    }

    /// Passes the entries of a whole directory to `each` one by one, so that memory holds at most one. If a
    /// connection fails, the search restarts and passes some entries twice. The time limit is
    /// [LdapConfig.Limits#listing].
    ///
    /// @throws DriverException.BackendUnavailable if no server answers in time
    void each(Search search, Consumer<SearchResultEntry> each) {
        each(search, limits.listing(), each);
    }

    void each(Search search, Duration limit, Consumer<SearchResultEntry> each) {
        boolean _ = use(limit, (connection, end) -> {
            pages(connection, search, end, each);
            return true;
        });
    }

    private void pages(LDAPConnection connection, Search search, LookupDeadline end, Consumer<SearchResultEntry> each)
            throws LDAPException {
        EntryStream reading = new EntryStream(search, each, end, servers);
        ASN1OctetString cookie = new ASN1OctetString();
        do {
            SearchRequest request = request(search, reading);
            request.addControl(new SimplePagedResultsControl(limits.pageSize(), cookie));
            SimplePagedResultsControl more = SimplePagedResultsControl.get(connection.search(request));
            cookie = more == null ? new ASN1OctetString() : more.getCookie();
            reading.pageEnded(cookie != null && cookie.getValueLength() > 0);
        } while (cookie != null && cookie.getValueLength() > 0);
    }

    /// Returns at most two entries that match: enough to see whether a match is unique.
    ///
    /// @throws DriverException.BackendUnavailable if no server answers in time
    List<SearchResultEntry> atMostTwo(Search search) {
        return use(limits.lookup(), (connection, end) -> {
            List<SearchResultEntry> found = new ArrayList<>();
            Consumer<SearchResultEntry> two = entry -> {
                if (found.size() < 2) {
                    found.add(entry);
                }
            };
            SearchRequest request = request(search, new EntryStream(search, two, end, servers));
            request.setSizeLimit(2);
            try {
                SearchResult _ = connection.search(request);
            } catch (LDAPSearchException ended) {
                boolean absent = ended.getResultCode().equals(ResultCode.NO_SUCH_OBJECT)
                        && search.scope().equals(SearchScope.BASE);
                if (!absent && !ended.getResultCode().equals(ResultCode.SIZE_LIMIT_EXCEEDED)) {
                    throw ended;
                }
            }
            return found;
        });
    }

    private static SearchRequest request(Search search, EntryStream reading) {
        SearchRequest request = new SearchRequest(
                reading,
                search.base(),
                search.scope(),
                search.filter(),
                search.attributes().toArray(String[]::new));
        request.setDerefPolicy(DereferencePolicy.NEVER);
        request.setFollowReferrals(false);
        return request;
    }

    @FunctionalInterface
    private interface ConnectionUse<T> {
        T with(LDAPConnection connection, LookupDeadline end) throws LDAPException;
    }

    private <T> T use(Duration limit, ConnectionUse<T> use) {
        takeTurn();
        try {
            LookupDeadline end = LookupDeadline.in(limit);
            for (int left = TRIES - 1; ; left--) {
                try {
                    return once(use, end);
                } catch (LDAPException failed) {
                    if (isTooLarge(failed)) {
                        throw new DriverException.BackendFault(
                                "LDAP has an entry of more than " + MOST_BYTES + " bytes, which is not read");
                    }
                    if (end.passed()) {
                        throw end.missed(servers, failed);
                    }
                    if (left == 0 || !isConnectionsFault(failed) || watchdog.isClosed()) {
                        throw unavailable(failed);
                    }
                }
            }
        } finally {
            turns.release();
        }
    }

    private <T> T once(ConnectionUse<T> use, LookupDeadline end) throws LDAPException {
        LDAPConnectionPool from = pool.get();
        LDAPConnection connection = from.getConnection();
        boolean good = false;
        try (ConnectionWatchdog.Watch _ = watchdog.over(AbortableSocket.of(connection), end)) {
            T result = use.with(connection, end);
            good = true;
            return result;
        } catch (LDAPException failed) {
            good = !isConnectionsFault(failed);
            throw failed;
        } finally {
            if (good) {
                from.releaseConnection(connection);
            } else {
                drop(from, connection);
            }
        }
    }

    /// Replaces the pool of a failed connection with an empty one. Closes the old pool in the background, since
    /// closing TLS waits for a server that may hang.
    private void drop(LDAPConnectionPool from, LDAPConnection connection) {
        synchronized (pools) {
            if (pool.get().equals(from) && !from.isClosed()) {
                pool.set(pools.get());
            }
        }
        AbortableSocket.of(connection).cut();
        Thread.ofVirtual().name("ldap-close").start(() -> {
            from.discardConnection(connection);
            from.close();
        });
    }

    private void takeTurn() {
        try {
            if (!watchdog.isClosed() && turns.tryAcquire(limits.lookup().toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        if (watchdog.isClosed()) {
            throw new DriverException.BackendUnavailable("LDAP is no longer asked: the driver is stopping");
        }
        throw new DriverException.BackendUnavailable("all " + limits.connections()
                + " connections to LDAP are waiting for an answer from " + servers + "; retry");
    }

    /// Recognizes the SDK's error for a message over the size limit by its text: the cause has no type of its own.
    private static boolean isTooLarge(LDAPException failed) {
        return String.valueOf(failed.getMessage()).contains(Integer.toString(MOST_BYTES));
    }

    /// Checks whether a retry on another connection may succeed.
    private static boolean isConnectionsFault(LDAPException failed) {
        ResultCode code = failed.getResultCode();
        return code.equals(ResultCode.TIMEOUT) || !code.isConnectionUsable();
    }

    /// Reports only the innermost cause: the SDK wraps it in text that exceeds the length limit of a message.
    private DriverException unavailable(LDAPException failed) {
        Throwable last = failed;
        for (@Nullable Throwable cause = failed; cause != null; cause = cause.getCause()) {
            last = cause;
        }
        String said = last.getMessage() == null ? "" : ": " + QuotedText.of(last.getMessage());
        return new DriverException.BackendUnavailable(
                "LDAP " + servers + " gave no answer, " + failed.getResultCode().getName() + said, failed);
    }

    /// Ends all waits for a reply; they throw [DriverException.BackendUnavailable].
    @Override
    public void close() {
        watchdog.close();
        synchronized (pools) {
            pool.get().close();
        }
    }
}
