package dev.siphon.controller.kubernetes;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.QuotedText;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Elects one of several controllers: the holder of the Lease `siphon-controller` in the driver's namespace. The
/// others stand by. One of them takes the Lease when it has seen no change of it for [#HELD].
///
/// The leader renews the Lease every [#RETRIED]. It stops when its last renewal started more than [#RENEWED] ago,
/// some seconds before another controller may start. A second thread checks that, since a request may hang. Each
/// write names the version that it replaces, so one of two writers is refused.
///
/// Each controller measures by its own monotonic clock; the times in the Lease are for people. The periods are
/// those of Kubernetes' own controllers (client-go, `leaderelection`).
public final class Leadership implements AutoCloseable {
    static final String LEASE = "siphon-controller";
    static final Duration HELD = Duration.ofSeconds(15);
    static final Duration RENEWED = Duration.ofSeconds(10);
    static final Duration RETRIED = Duration.ofSeconds(2);

    private static final Logger LOG = LoggerFactory.getLogger(Leadership.class);

    /// Interval of the check that the Lease was renewed in time.
    private static final Duration LOOK = Duration.ofMillis(500);

    private final KubernetesAccess access;
    private final String identity;
    private final Runnable lost;
    private final Clocks clocks;
    private final CountDownLatch won = new CountDownLatch(1);
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile List<BackgroundTasks.Task> tasks = List.of();
    private volatile String leader = "";
    private volatile String uid = "";

    /// When this controller sent the request that last acquired or renewed the Lease; empty until it leads.
    private volatile Optional<Long> renewed = Optional.empty();

    /// Guarded by this object's lock, like the fields below.
    private KubernetesClient client;

    /// The Lease as this controller last wrote it.
    private Optional<Lease> own = Optional.empty();

    private Optional<ObservedLease> seen = Optional.empty();

    /// @param nanoTime [System#nanoTime]
    /// @param wall for the times that people read
    record Clocks(LongSupplier nanoTime, InstantSource wall) {}

    /// @param version of a Lease that another controller holds; empty if there is none
    /// @param at when this version was first seen
    private record ObservedLease(String version, long at) {}

    /// Tries to become leader, until it is closed.
    ///
    /// @param identity distinguishes this controller from others, as a pod's name does
    /// @param lost called when another controller may lead: no further operation may start
    public static Leadership seek(KubernetesAccess access, String identity, Runnable lost) {
        return new Leadership(access, identity, lost, new Clocks(System::nanoTime, InstantSource.system())).start();
    }

    Leadership(KubernetesAccess access, String identity, Runnable lost, Clocks clocks) {
        this.access = access;
        this.identity = identity;
        this.lost = lost;
        this.clocks = clocks;
        this.client = connect();
    }

    /// The short deadline leaves time for a retry after a lost request.
    private KubernetesClient connect() {
        return Connection.open(access, RENEWED.dividedBy(3));
    }

    Leadership start() {
        LOG.atInfo().addKeyValue("as", identity).log("standing for leader");
        BackgroundTasks background = new BackgroundTasks();
        tasks = List.of(
                background.every("leadership", Duration.ZERO, RETRIED, this::attempt),
                background.every("leadership-watch", LOOK, LOOK, this::look));
        return this;
    }

    /// Acquires or renews the Lease, if that is possible now.
    synchronized void attempt() {
        if (over.get()) {
            return;
        }
        long asked = clocks.nanoTime().getAsLong();
        try {
            own = own.flatMap(lease -> write(Optional.of(lease), identity)).or(this::acquire);
            own.filter(_ -> since(asked).compareTo(RENEWED) < 0).ifPresent(lease -> begin(lease, asked));
        } catch (KubernetesClientException failed) {
            LOG.warn("Lease {}/{} cannot be read or written: {}", access.namespace(), LEASE, failed.getMessage());
            // the network may have dropped the connection's state, and would drop everything sent on it
            client.close();
            client = connect();
        }
    }

    private void begin(Lease lease, long asked) {
        renewed = Optional.of(asked);
        leader = identity;
        uid = lease.getMetadata().getUid();
        if (won.getCount() > 0) {
            LOG.atInfo().log("leads");
            won.countDown();
        }
    }

    private Optional<Lease> acquire() {
        Optional<Lease> found = Optional.ofNullable(
                client.leases().inNamespace(access.namespace()).withName(LEASE).get());
        leader = found.map(Leadership::holder).orElse("");
        if (renewed.isPresent() && !leader.isEmpty() && !leader.equals(identity)) {
            end();
            return Optional.empty();
        }
        return isFree(found) || isOld(found) ? write(found, identity) : Optional.empty();
    }

    /// A deleted Lease is not free at once: its holder does not know of it yet.
    private boolean isFree(Optional<Lease> found) {
        return found.map(Leadership::holder)
                .map(holder -> holder.isEmpty() || holder.equals(identity))
                .orElse(seen.isEmpty() || renewed.isPresent());
    }

    private boolean isOld(Optional<Lease> found) {
        long now = clocks.nanoTime().getAsLong();
        String version =
                found.map(lease -> lease.getMetadata().getResourceVersion()).orElse("");
        ObservedLease first =
                seen.filter(before -> before.version().equals(version)).orElse(new ObservedLease(version, now));
        seen = Optional.of(first);
        return since(first.at()).compareTo(HELD) >= 0;
    }

    /// Replaces a version of the Lease; empty if that version no longer exists.
    ///
    /// @param holder the new holder; empty for nobody
    private Optional<Lease> write(Optional<Lease> before, String holder) {
        ZonedDateTime now = clocks.wall().instant().atZone(ZoneOffset.UTC);
        var spec = before.map(LeaseBuilder::new)
                .orElseGet(LeaseBuilder::new)
                .editOrNewMetadata()
                .withName(LEASE)
                .withNamespace(access.namespace())
                .endMetadata()
                .editOrNewSpec()
                .withHolderIdentity(holder)
                .withLeaseDurationSeconds(Math.toIntExact(HELD.toSeconds()))
                .withRenewTime(now);
        if (!holder.isEmpty()
                && before.map(Leadership::holder).filter(holder::equals).isEmpty()) {
            int transitions = Optional.ofNullable(spec.getLeaseTransitions()).orElse(-1);
            spec.withAcquireTime(now)
                    .withLeaseTransitions(transitions == Integer.MAX_VALUE ? transitions : transitions + 1);
        }
        var request = client.resource(spec.endSpec().build());
        try {
            return Optional.of(before.isEmpty() ? request.create() : request.update());
        } catch (KubernetesClientException refused) {
            boolean isGone = before.isPresent() && refused.getCode() == HttpURLConnection.HTTP_NOT_FOUND;
            if (isGone || refused.getCode() == HttpURLConnection.HTTP_CONFLICT) {
                return Optional.empty();
            }
            throw refused;
        }
    }

    private static String holder(Lease lease) {
        return Optional.ofNullable(lease.getSpec().getHolderIdentity()).orElse("");
    }

    private Duration since(long then) {
        return Duration.ofNanos(clocks.nanoTime().getAsLong() - then);
    }

    /// Checks that the Lease was renewed in time.
    void look() {
        if (renewed.filter(then -> since(then).compareTo(RENEWED) > 0).isPresent()) {
            end();
        }
    }

    private void end() {
        if (over.compareAndSet(false, true)) {
            LOG.atError().log("leads no longer");
            lost.run();
        }
    }

    /// Waits until this controller leads.
    public void await() throws InterruptedException {
        won.await();
    }

    /// Returns the Lease's uid, which differs from those of other Kubernetes clusters. It is the same for each
    /// leader in turn, and empty until this controller leads.
    public String lease() {
        return uid;
    }

    /// Returns who leads, for people.
    public String leader() {
        return leader.isEmpty() ? "nobody leads yet" : QuotedText.of(leader) + " leads";
    }

    /// Releases the Lease if this controller still leads, so that another can lead at once.
    @Override
    public void close() {
        over.set(true);
        tasks.forEach(BackgroundTasks.Task::close);
        synchronized (this) {
            try {
                own.ifPresent(lease -> write(Optional.of(lease), ""));
                own = Optional.empty();
            } catch (KubernetesClientException unanswered) {
                LOG.info("the Lease is not released and will expire: {}", unanswered.getMessage());
            }
            client.close();
        }
    }
}
