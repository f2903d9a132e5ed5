package dev.siphon.controller.ldap;

import com.unboundid.asn1.ASN1OctetString;
import com.unboundid.ldap.sdk.DereferencePolicy;
import com.unboundid.ldap.sdk.Filter;
import com.unboundid.ldap.sdk.LDAPConnection;
import com.unboundid.ldap.sdk.LDAPConnectionOptions;
import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.LDAPSearchException;
import com.unboundid.ldap.sdk.ResultCode;
import com.unboundid.ldap.sdk.SearchRequest;
import com.unboundid.ldap.sdk.SearchResult;
import com.unboundid.ldap.sdk.SearchResultEntry;
import com.unboundid.ldap.sdk.SearchScope;
import com.unboundid.ldap.sdk.SimpleBindRequest;
import com.unboundid.ldap.sdk.controls.SimplePagedResultsControl;
import com.unboundid.util.ssl.HostNameSSLSocketVerifier;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/// Searches the LDAP servers over bound and protected connections, within a time limit.
///
/// Each connection serves one lookup at a time, and is kept for the next one. Lookups beyond the number of
/// connections wait for their turn. When a connection fails, it is closed with all idle ones, which most likely
/// lead to the same server. The search is then retried once on a new connection, to the first server that accepts
/// the bind. Referrals and aliases are not followed: they would send the password or the query elsewhere.
final class LdapConnections implements AutoCloseable {
    private static final int TRIES = 2;

    /// The largest entry that is read, in bytes. The SDK uses about five times as much memory for it.
    private static final int MOST_BYTES = 2 << 20;

    /// Memory limit for the kept entries of one lookup, in bytes; see [EntryStream#bytes].
    private static final long MOST_KEPT_BYTES = 8 << 20;

    private final LdapConfig.Limits limits;
    private final List<LdapServer> servers;
    private final SSLContext tls;
    private final SimpleBindRequest bind;
    private final LDAPConnectionOptions options;
    private final Semaphore turns;
    private final Queue<ServerConnection> idle = new ConcurrentLinkedQueue<>();

    /// All connections, so that [#close] can cut those in use.
    private final Set<ServerConnection> connections = ConcurrentHashMap.newKeySet();

    /// The index of the server that accepted the last new connection. The next one is opened to it, too.
    private volatile int preferred;

    /// Cuts connections at their deadlines. Once it is shut down, it ignores further ones.
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("ldap-deadline").factory(), new ThreadPoolExecutor.DiscardPolicy());

    /// A search.
    ///
    /// @param attributes the attributes to return of each entry
    record Search(String base, SearchScope scope, Filter filter, List<String> attributes) {
        Search {
            attributes = List.copyOf(attributes);
        }
    }

    private LdapConnections(LdapConfig config) {
        this.limits = config.limits();
        this.servers = config.servers();
        this.tls = ServerTrust.context(config.caFile());
        this.bind = config.bind()
                .map(who -> new SimpleBindRequest(who.dn(), new PasswordFile(who.passwordFile())))
                .orElseGet(SimpleBindRequest::new);
        this.options = options(limits.step());
        this.turns = new Semaphore(limits.connections(), true);
        timer.setRemoveOnCancelPolicy(true);
    }

    /// Returns at once; the first search connects.
    ///
    /// @throws IllegalArgumentException if the CA file cannot be used
    static LdapConnections open(LdapConfig config) {
        return new LdapConnections(config);
    }

    private static LDAPConnectionOptions options(Duration step) {
        LDAPConnectionOptions options = new LDAPConnectionOptions();
        options.setConnectTimeoutMillis((int) step.toMillis());
        options.setResponseTimeoutMillis(step.toMillis());
        options.setUseSynchronousMode(true);
        // else closing a socket could wait for the server to take what was sent
        options.setUseLinger(false, 0);
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
        return use(limits.lookup(), connection -> {
            List<SearchResultEntry> entries = new ArrayList<>();
            AtomicLong bytes = new AtomicLong();
            pages(connection, search, entry -> {
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
        boolean _ = use(limit, connection -> {
            pages(connection, search, each);
            return true;
        });
    }

    private void pages(LDAPConnection connection, Search search, Consumer<SearchResultEntry> each)
            throws LDAPException {
        EntryStream reading = new EntryStream(search, each);
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
        return use(limits.lookup(), connection -> {
            List<SearchResultEntry> found = new ArrayList<>();
            Consumer<SearchResultEntry> two = entry -> {
                if (found.size() < 2) {
                    found.add(entry);
                }
            };
            SearchRequest request = request(search, new EntryStream(search, two));
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

    private <T> T use(Duration limit, ServerConnection.Use<T> use) {
        LookupDeadline end = LookupDeadline.in(limit);
        takeTurn();
        try {
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
                    if (left == 0 || !isConnectionsFault(failed) || timer.isShutdown()) {
                        throw unavailable(failed);
                    }
                }
            }
        } finally {
            turns.release();
        }
    }

    private <T> T once(ServerConnection.Use<T> use, LookupDeadline end) throws LDAPException {
        @Nullable ServerConnection free = idle.poll();
        ServerConnection connection = free == null ? connect(end) : free;
        boolean good = false;
        try {
            T result = connection.until(end, use);
            good = true;
            return result;
        } catch (LDAPException failed) {
            good = !isConnectionsFault(failed);
            throw failed;
        } finally {
            if (good && !connection.isCut()) {
                idle.add(connection);
            } else {
                discard(connection);
                discardIdle();
            }
        }
    }

    /// Connects to the first server that accepts the bind, beginning with the preferred one. Each server may use
    /// an equal share of the time that is left.
    private ServerConnection connect(LookupDeadline end) throws LDAPException {
        // a listing may take longer, but not to connect
        LookupDeadline connected = end.orWithin(limits.lookup());
        int first = preferred;
        for (int tried = 0; ; tried++) {
            int index = (first + tried) % servers.size();
            Duration share = connected.left().dividedBy(servers.size() - tried);
            try {
                ServerConnection connection = connect(servers.get(index), LookupDeadline.in(share));
                preferred = index;
                return connection;
            } catch (LDAPException failed) {
                if (tried == servers.size() - 1 || connected.passed()) {
                    throw failed;
                }
            }
        }
    }

    private ServerConnection connect(LdapServer server, LookupDeadline end) throws LDAPException {
        ServerConnection connection = new ServerConnection(server, tls, options, timer);
        connections.add(connection);
        if (timer.isShutdown()) {
            connection.cut();
        }
        boolean good = false;
        try {
            connection.open(bind, end);
            good = true;
            return connection;
        } finally {
            if (!good) {
                discard(connection);
            }
        }
    }

    private void discard(ServerConnection connection) {
        connections.remove(connection);
        connection.close();
    }

    private void discardIdle() {
        for (@Nullable ServerConnection each = idle.poll(); each != null; each = idle.poll()) {
            discard(each);
        }
    }

    /// Waits for one of the connections. A late turn is none: the deadline would close a connection that works.
    private void takeTurn() {
        Duration patience = limits.lookup().minus(limits.step());
        try {
            if (!timer.isShutdown() && turns.tryAcquire(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                return;
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        if (timer.isShutdown()) {
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
        timer.shutdownNow();
        connections.forEach(ServerConnection::cut);
        discardIdle();
    }
}
