package dev.siphon.controller.kubernetes;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.Quoted;
import dev.siphon.csi.server.StartFailure;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Which of several controllers works: who holds the Lease `siphon-controller` of the driver's namespace. The others
/// stand by, and take over when it has not been renewed for [#HELD].
///
/// A leader that has not renewed it for [#RENEWED] stops, some seconds before anybody else may begin. That is
/// watched here, since of a server that takes requests and answers none the library asks again and again before it
/// gives up. No clock has to agree with another. The times are those of Kubernetes' own controllers (client-go,
/// `leaderelection`).
public final class Leadership implements AutoCloseable {
    static final String LEASE = "siphon-controller";
    static final Duration HELD = Duration.ofSeconds(15);
    static final Duration RENEWED = Duration.ofSeconds(10);

    private static final Logger LOG = LoggerFactory.getLogger(Leadership.class);
    private static final Duration RETRIED = Duration.ofSeconds(2);

    /// How often to see whether the Lease was renewed in time.
    private static final Duration LOOK = Duration.ofMillis(500);

    private final KubernetesClient client;
    private final String namespace;
    private final ObservedLease lease;
    private final Runnable lost;
    private final CompletableFuture<Void> won = new CompletableFuture<>();
    private final AtomicBoolean over = new AtomicBoolean();
    private final ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("leadership-watch").factory());
    private final CompletableFuture<?> electing;
    private volatile boolean closing;
    private volatile Optional<String> leader = Optional.empty();

    /// Begins to stand for leader, and goes on until it is closed.
    ///
    /// @param identity tells this controller from others, as a pod's name does
    /// @param lost what to do when somebody else may lead from now on: no operation may begin any more
    public static Leadership seek(KubernetesAccess access, String identity, Runnable lost) {
        return new Leadership(access, identity, lost);
    }

    private Leadership(KubernetesAccess access, String identity, Runnable lost) {
        // so that one request that is lost leaves time for another
        this.client = Connection.open(access, RENEWED.dividedBy(2));
        this.namespace = access.namespace();
        this.lease = new ObservedLease(new LeaseLock(access.namespace(), LEASE, identity), System::nanoTime);
        this.lost = lost;
        LOG.atInfo().addKeyValue("as", identity).log("standing for leader");
        this.electing = client.leaderElector()
                .withConfig(new LeaderElectionConfigBuilder()
                        .withName(LEASE)
                        .withLock(lease)
                        .withLeaseDuration(HELD)
                        .withRenewDeadline(RENEWED)
                        .withRetryPeriod(RETRIED)
                        .withReleaseOnCancel(true)
                        .withLeaderCallbacks(new LeaderCallbacks(this::begun, this::ended, this::changed))
                        .build())
                .build()
                .start();
        var _ = watch.scheduleWithFixedDelay(
                new BackgroundTasks().guarded("leadership-watch", this::look),
                LOOK.toMillis(),
                LOOK.toMillis(),
                TimeUnit.MILLISECONDS);
    }

    private void look() {
        if (lease.sinceRenewal().filter(age -> age.compareTo(RENEWED) > 0).isPresent()) {
            ended();
        }
    }

    private void begun() {
        LOG.atInfo().log("leads");
        won.complete(null);
    }

    private void ended() {
        if (won.isDone() && !closing && over.compareAndSet(false, true)) {
            LOG.atError().log("leads no longer");
            lost.run();
        }
    }

    private void changed(String identity) {
        leader = Optional.of(identity);
    }

    /// Waits until this one leads.
    public void await() throws InterruptedException {
        try {
            won.get();
        } catch (ExecutionException impossible) {
            throw new IllegalStateException("leading cannot fail", impossible);
        }
    }

    /// What tells the Lease from all others, also from those of other clusters of Kubernetes: the same for whoever
    /// leads in turn.
    ///
    /// @throws StartFailure if the API server does not tell
    public String lease() {
        String what = "Lease " + namespace + "/" + LEASE;
        try {
            return Optional.ofNullable(client.leases()
                            .inNamespace(namespace)
                            .withName(LEASE)
                            .get())
                    .orElseThrow(() -> new StartFailure(what + " is gone"))
                    .getMetadata()
                    .getUid();
        } catch (KubernetesClientException e) {
            throw new StartFailure(what + " cannot be read", e);
        }
    }

    /// Who leads, for people.
    public String leader() {
        return leader.map(name -> Quoted.of(name) + " leads").orElse("nobody leads yet");
    }

    /// Lets another one lead at once.
    @Override
    public void close() {
        closing = true;
        watch.shutdownNow();
        electing.cancel(true);
        client.close();
    }
}
