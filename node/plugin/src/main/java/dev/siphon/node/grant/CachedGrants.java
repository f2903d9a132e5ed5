package dev.siphon.node.grant;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Caches grants that are read over the network, with one request at a time. A caller that arrives during a request
/// waits. It then takes the result of the first request that began after its arrival, because that has everything
/// published before.
///
/// If there is no reply, the cached grants serve, however old. They serve without another request for the age that
/// the caller accepts. So an API server that hangs costs the node one wait, not one per volume.
public final class CachedGrants implements GrantsSource {
    private static final Logger LOG = LoggerFactory.getLogger(CachedGrants.class);

    /// How long a caller waits for another caller's request, which times out earlier.
    private static final Duration TURN = Duration.ofSeconds(10);

    private final PublishedGrants published;
    private final LongSupplier nanos;
    private final Counter reads;
    private final Counter outdated;
    private final ReentrantLock turn = new ReentrantLock(true);
    private volatile Optional<FetchedGrants> answer = Optional.empty();
    private volatile Optional<Silence> silence = Optional.empty();

    /// The result of a request.
    ///
    /// @param begun when it was sent, by [System#nanoTime]
    private record FetchedGrants(Grants grants, long begun) {}

    /// The last request, if it got no reply.
    ///
    /// @param since the time of the first such request in a row, for people
    private record Silence(String why, long begun, Instant since) {}

    public CachedGrants(PublishedGrants published, PrometheusRegistry metrics) {
        this(published, metrics, System::nanoTime);
    }

    CachedGrants(PublishedGrants published, PrometheusRegistry metrics, LongSupplier nanos) {
        this.published = published;
        this.nanos = nanos;
        this.reads = Counter.builder()
                .name("siphon_grants_reads_total")
                .help("Requests for the grants: answered, missing (or malformed) or silent.")
                .labelNames("result")
                .register(metrics);
        this.outdated = Counter.builder()
                .name("siphon_grants_outdated_total")
                .help("How often older grants were used because newer ones could not be read.")
                .register(metrics);
        GaugeWithCallback.builder()
                .name("siphon_grants_age_seconds")
                .help("Age of the known grants; -1 if there are none.")
                .callback(callback -> callback.call(answer.map(known -> (nanos.getAsLong() - known.begun()) / 1e9)
                        .orElse(-1.0)))
                .register(metrics);
    }

    /// Reads the grants in the background: the first publish need not wait, and has grants if the API server does
    /// not answer later.
    public void prefetch() {
        Thread.ofPlatform().daemon().name("grants").start(() -> {
            try {
                var _ = get(Duration.ZERO);
            } catch (DriverException.BackendUnavailable e) {
                LOG.atWarn().addKeyValue("reason", e.getMessage()).log("no grants yet");
            }
        });
    }

    @Override
    public KnownGrants get(Duration age) {
        long came = nanos.getAsLong();
        long oldest = came - age.toNanos();
        Optional<FetchedGrants> young = youngerThan(oldest);
        if (young.isPresent()) {
            return new KnownGrants(young.get().grants(), Optional.empty());
        }
        if (!isMyTurn()) {
            return older("an earlier request for the grants has not ended");
        }
        try {
            return ask(came, oldest);
        } finally {
            turn.unlock();
        }
    }

    private KnownGrants ask(long came, long oldest) {
        Optional<FetchedGrants> meanwhile = youngerThan(oldest);
        if (meanwhile.isPresent()) {
            return new KnownGrants(meanwhile.get().grants(), Optional.empty());
        }
        // with nothing cached, only a failure after the caller's arrival spares a new request
        long worth = answer.isPresent() ? oldest : came;
        Optional<Silence> lately = silence.filter(last -> last.begun() - worth >= 0);
        if (lately.isPresent()) {
            return older(lately.get().why());
        }
        long begun = nanos.getAsLong();
        try {
            Grants grants = published.read();
            heard("answered");
            answer = Optional.of(new FetchedGrants(grants, begun));
            return new KnownGrants(grants, Optional.empty());
        } catch (DriverException.NotFound | DriverException.BackendFault e) {
            heard("missing");
            answer = Optional.empty();
            throw unknown(e.getMessage());
        } catch (DriverException.BackendUnavailable e) {
            unheard(e.getMessage(), begun);
            return older(e.getMessage());
        }
    }

    private Optional<FetchedGrants> youngerThan(long oldest) {
        return answer.filter(known -> known.begun() - oldest >= 0);
    }

    /// Returns why the grants are outdated, and since when; empty if they are not.
    public Optional<String> remark() {
        return silence.map(last -> "no grants since " + last.since() + ": " + last.why()
                + (answer.isPresent() ? "; the older ones still apply" : "; no volume of an account can be published"));
    }

    private KnownGrants older(String why) {
        FetchedGrants known = answer.orElseThrow(() -> unknown(why));
        outdated.inc();
        return new KnownGrants(known.grants(), Optional.of(why));
    }

    private void heard(String result) {
        reads.labelValues(result).inc();
        silence.ifPresent(
                last -> LOG.atInfo().addKeyValue("silent_since", last.since()).log("grants can be read again"));
        silence = Optional.empty();
    }

    private void unheard(String why, long begun) {
        reads.labelValues("silent").inc();
        if (silence.isEmpty()) {
            LOG.atWarn()
                    .addKeyValue("reason", why)
                    .addKeyValue("older_serve", answer.isPresent())
                    .log("cannot read the grants");
        }
        silence =
                Optional.of(new Silence(why, begun, silence.map(Silence::since).orElseGet(Instant::now)));
    }

    private boolean isMyTurn() {
        try {
            return turn.tryLock(TURN.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static DriverException.BackendUnavailable unknown(String why) {
        return new DriverException.BackendUnavailable(
                "whether the pod's namespace may use the volume is not known: " + why);
    }
}
