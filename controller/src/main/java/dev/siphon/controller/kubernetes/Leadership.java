package dev.siphon.controller.kubernetes;

import dev.siphon.csi.Quoted;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Which of several controllers works: who holds the Lease `siphon-controller` of the driver's namespace. The others
/// stand by, and take over when it has not been renewed for [#HELD].
///
/// A leader that cannot renew it stops [#HELD] less [#RENEWED] before anybody else may begin. The times are those of
/// Kubernetes' own controllers (client-go, `leaderelection`).
public final class Leadership implements AutoCloseable {
    static final String LEASE = "siphon-controller";
    static final Duration HELD = Duration.ofSeconds(15);
    static final Duration RENEWED = Duration.ofSeconds(10);

    private static final Logger LOG = LoggerFactory.getLogger(Leadership.class);
    private static final Duration RETRIED = Duration.ofSeconds(2);

    private final KubernetesClient client;
    private final Runnable lost;
    private final CompletableFuture<Void> won = new CompletableFuture<>();
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
        this.client = Connection.open(access, RENEWED);
        this.lost = lost;
        LOG.atInfo().addKeyValue("as", identity).log("standing for leader");
        this.electing = client.leaderElector()
                .withConfig(new LeaderElectionConfigBuilder()
                        .withName(LEASE)
                        .withLock(new LeaseLock(access.namespace(), LEASE, identity))
                        .withLeaseDuration(HELD)
                        .withRenewDeadline(RENEWED)
                        .withRetryPeriod(RETRIED)
                        .withReleaseOnCancel(true)
                        .withLeaderCallbacks(new LeaderCallbacks(this::begun, this::ended, this::changed))
                        .build())
                .build()
                .start();
    }

    private void begun() {
        LOG.atInfo().log("leads");
        won.complete(null);
    }

    private void ended() {
        if (won.isDone() && !closing) {
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

    /// Who leads, for people.
    public String leader() {
        return leader.map(name -> Quoted.of(name) + " leads").orElse("nobody leads yet");
    }

    /// Lets another one lead at once.
    @Override
    public void close() {
        closing = true;
        electing.cancel(true);
        client.close();
    }
}
