package dev.siphon.controller.ldap;

import com.unboundid.asn1.ASN1OctetString;
import com.unboundid.ldap.sdk.DereferencePolicy;
import com.unboundid.ldap.sdk.FailoverServerSet;
import com.unboundid.ldap.sdk.Filter;
import com.unboundid.ldap.sdk.GetEntryLDAPConnectionPoolHealthCheck;
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
import com.unboundid.ldap.sdk.SingleServerSet;
import com.unboundid.ldap.sdk.StartTLSPostConnectProcessor;
import com.unboundid.ldap.sdk.controls.SimplePagedResultsControl;
import com.unboundid.util.ssl.HostNameSSLSocketVerifier;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Quoted;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.net.SocketFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/// Connections to the LDAP servers, bound and protected, and searches over them that end in time.
///
/// Connections wait in a pool; each is used by one look-up at a time, and there are at most as many look-ups as
/// connections: more wait their turn. One that fails is closed together with those that wait, since their server is
/// most likely the same, and the search is tried once more with a new one, to the first server that can be bound to.
/// Referrals and aliases are not followed: they would send the password, or the question, elsewhere.
final class LdapConnections implements AutoCloseable {
    private static final Duration HEALTH_CHECK = Duration.ofSeconds(30);
    private static final int TRIES = 2;

    /// More entries than any group has; a server that sends more would fill the memory.
    private static final int MOST_ENTRIES = 200_000;

    private final LdapConfig.Limits limits;
    private final List<LdapServer> servers;
    private final Supplier<LDAPConnectionPool> pools;
    private final AtomicReference<LDAPConnectionPool> pool;
    private final Semaphore turns;

    /// A search.
    ///
    /// @param attributes what is asked for of each entry
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

    private LdapConnections(LdapConfig config, Supplier<LDAPConnectionPool> pools) {
        this.limits = config.limits();
        this.servers = config.servers();
        this.pools = pools;
        this.pool = new AtomicReference<>(pools.get());
        this.turns = new Semaphore(limits.connections(), true);
    }

    /// Gets ready; connects when there is something to ask.
    ///
    /// @throws IllegalArgumentException if the CA file cannot be used
    static LdapConnections open(LdapConfig config) {
        SSLContext tls = ServerTrust.context(config.caFile());
        SimpleBindRequest bind = config.bind()
                .map(who -> new SimpleBindRequest(who.dn(), new PasswordFile(who.passwordFile())))
                .orElseGet(SimpleBindRequest::new);
        List<ServerSet> sets = config.servers().stream()
                .map(server -> server(server, config.limits().step(), bind, tls))
                .toList();
        FailoverServerSet all = new FailoverServerSet(sets);
        all.setReOrderOnFailover(true);
        return new LdapConnections(config, () -> pool(all, bind, config.limits()));
    }

    private static LDAPConnectionPool pool(ServerSet servers, SimpleBindRequest bind, LdapConfig.Limits limits) {
        try {
            // the servers bind, not the pool, so that one that refuses is followed by the next
            LDAPConnectionPool pool = new LDAPConnectionPool(servers, bind, 0, limits.connections());
            pool.setConnectionPoolName("ldap");
            pool.setRetryFailedOperationsDueToInvalidConnections(false);
            pool.setHealthCheck(new GetEntryLDAPConnectionPoolHealthCheck(
                    "", limits.step().toMillis(), false, false, false, true, false));
            pool.setHealthCheckIntervalMillis(HEALTH_CHECK.toMillis());
            return pool;
        } catch (LDAPException impossible) {
            throw new IllegalStateException("a pool without connections connects to nothing", impossible);
        }
    }

    private static ServerSet server(LdapServer server, Duration step, SimpleBindRequest bind, SSLContext tls) {
        SSLSocketFactory impatient = new ImpatientTls(tls.getSocketFactory(), step);
        SocketFactory sockets =
                server.protection() == LdapServer.Protection.TLS ? impatient : SocketFactory.getDefault();
        PostConnectProcessor protect = server.protection() == LdapServer.Protection.START_TLS
                ? new StartTLSPostConnectProcessor(impatient)
                : new Untouched();
        return new SingleServerSet(server.host(), server.port(), sockets, options(step), bind, protect);
    }

    private static LDAPConnectionOptions options(Duration step) {
        LDAPConnectionOptions options = new LDAPConnectionOptions();
        options.setConnectTimeoutMillis((int) step.toMillis());
        options.setResponseTimeoutMillis(step.toMillis());
        options.setUseSynchronousMode(true);
        options.setFollowReferrals(false);
        options.setAbandonOnTimeout(false);
        options.setUseSchema(false);
        // the certificate must be for the host that the configuration names; only 127.0.0.0/8 and ::1 are let off
        options.setSSLSocketVerifier(new HostNameSSLSocketVerifier(true));
        return options;
    }

    /// All entries that match, asked for in pages.
    ///
    /// @throws DriverException.BackendUnavailable if no server answers in time
    List<SearchResultEntry> all(Search search) {
        return use(connection -> {
            List<SearchResultEntry> entries = new ArrayList<>();
            pages(connection, search, entries::add);
            return entries;
        });
    }

    /// Hands all entries that match to `each`, page by page, so that no more than a page is in memory. After a
    /// connection that failed it begins again, and hands some over twice.
    ///
    /// @throws DriverException.BackendUnavailable if no server answers in time
    void each(Search search, Consumer<SearchResultEntry> each) {
        boolean _ = use(connection -> {
            pages(connection, search, each);
            return true;
        });
    }

    private void pages(LDAPConnection connection, Search search, Consumer<SearchResultEntry> each)
            throws LDAPException {
        ASN1OctetString cookie = new ASN1OctetString();
        int count = 0;
        do {
            SearchRequest request = request(search);
            request.addControl(new SimplePagedResultsControl(limits.pageSize(), cookie));
            SearchResult page = connection.search(request);
            List<SearchResultEntry> entries = found(page.getSearchEntries());
            entries.forEach(each);
            count += entries.size();
            SimplePagedResultsControl more = SimplePagedResultsControl.get(page);
            cookie = more == null ? new ASN1OctetString() : more.getCookie();
            if (count > MOST_ENTRIES) {
                throw new DriverException.BackendFault("LDAP has more than " + MOST_ENTRIES + " entries for "
                        + search.filter() + " below " + Quoted.of(search.base()));
            }
        } while (cookie != null && cookie.getValueLength() > 0);
    }

    /// The entries that match, at most two: whoever looks for one need not know how many others there are.
    ///
    /// @throws DriverException.BackendUnavailable if no server answers in time
    List<SearchResultEntry> atMostTwo(Search search) {
        return use(connection -> {
            SearchRequest request = request(search);
            request.setSizeLimit(2);
            try {
                return found(connection.search(request).getSearchEntries());
            } catch (LDAPSearchException ended) {
                if (ended.getResultCode().equals(ResultCode.SIZE_LIMIT_EXCEEDED)) {
                    return found(ended.getSearchEntries());
                }
                if (ended.getResultCode().equals(ResultCode.NO_SUCH_OBJECT)
                        && search.scope().equals(SearchScope.BASE)) {
                    return List.of();
                }
                throw ended;
            }
        });
    }

    /// The SDK says null where a listener took the entries.
    private static List<SearchResultEntry> found(@Nullable List<SearchResultEntry> entries) {
        return entries == null ? List.of() : entries;
    }

    private SearchRequest request(Search search) {
        SearchRequest request = new SearchRequest(
                search.base(),
                search.scope(),
                search.filter(),
                search.attributes().toArray(String[]::new));
        request.setDerefPolicy(DereferencePolicy.NEVER);
        request.setFollowReferrals(false);
        return request;
    }

    @FunctionalInterface
    private interface Use<T> {
        T with(LDAPConnection connection) throws LDAPException;
    }

    private <T> T use(Use<T> use) {
        takeTurn();
        try {
            long end = System.nanoTime() + limits.lookup().toNanos();
            for (int left = TRIES - 1; ; left--) {
                try {
                    return once(use);
                } catch (LDAPException failed) {
                    if (left == 0 || !isConnectionsFault(failed) || System.nanoTime() - end > 0) {
                        throw unavailable(failed);
                    }
                }
            }
        } finally {
            turns.release();
        }
    }

    private <T> T once(Use<T> use) throws LDAPException {
        LDAPConnectionPool from = pool.get();
        LDAPConnection connection = from.getConnection();
        boolean good = false;
        try {
            T result = use.with(connection);
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

    /// Puts a pool without connections in place of the one of a failed connection. To close TLS with a server that
    /// hangs takes as long as an answer of it, so nobody waits for that.
    private void drop(LDAPConnectionPool from, LDAPConnection connection) {
        synchronized (pools) {
            if (pool.get().equals(from) && !from.isClosed()) {
                pool.set(pools.get());
            }
        }
        Thread.ofVirtual().name("ldap-close").start(() -> {
            from.discardConnection(connection);
            from.close();
        });
    }

    private void takeTurn() {
        try {
            if (turns.tryAcquire(limits.lookup().toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        throw new DriverException.BackendUnavailable("all " + limits.connections()
                + " connections to LDAP are waiting for an answer of " + servers + "; retry");
    }

    /// Whether another connection may do better.
    private static boolean isConnectionsFault(LDAPException failed) {
        ResultCode code = failed.getResultCode();
        return code.equals(ResultCode.TIMEOUT) || !code.isConnectionUsable();
    }

    /// Says the last cause: the SDK wraps it in sentences that are longer than a message may be.
    private DriverException unavailable(LDAPException failed) {
        Throwable last = failed;
        for (@Nullable Throwable cause = failed; cause != null; cause = cause.getCause()) {
            last = cause;
        }
        String said = last.getMessage() == null ? "" : ": " + Quoted.of(last.getMessage());
        return new DriverException.BackendUnavailable(
                "LDAP " + servers + " gave no answer, " + failed.getResultCode().getName() + said, failed);
    }

    @Override
    public void close() {
        synchronized (pools) {
            pool.get().close();
        }
    }
}
