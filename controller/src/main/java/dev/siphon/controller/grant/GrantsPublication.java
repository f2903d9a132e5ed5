package dev.siphon.controller.grant;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What is published for nodes, changed by one after another.
final class GrantsPublication {
    private static final Logger LOG = LoggerFactory.getLogger(GrantsPublication.class);

    /// How long to wait for others to publish.
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final GrantsStore store;
    private final GrantsLimit limit;
    private final GrantsMetrics metrics;

    /// Held while something is published: a store may take seconds for that, in which others need to see
    /// what is known.
    private final ReentrantLock publishing = new ReentrantLock();

    /// What is published; empty until it is known what was published last.
    private volatile Optional<Grants> known = Optional.empty();

    GrantsPublication(GrantsStore store, GrantsMetrics metrics) {
        this.store = store;
        this.limit = new GrantsLimit(store.mostBytes(), store.where());
        this.metrics = metrics;
    }

    /// What this controller has published.
    Optional<Grants> known() {
        return known;
    }

    /// What is published, or was last by an earlier controller.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if that cannot be known now
    Grants published() {
        return known.orElseGet(store::last);
    }

    /// Publishes what is known with a change to it. Begins with what was published last, so that no restart
    /// takes a grant away. What is taken back is published whether what is new fits or not.
    ///
    /// @return why a grant is not published, by the place of its group or the name of its dataset
    /// @throws DriverException whatever [GrantsStore#publish] throws
    Map<String, String> publish(UnaryOperator<Grants> change) {
        lock();
        try {
            Grants before = published();
            GrantsLimit.Fitting fitting = limit.fit(before, change.apply(before));
            if (!known.equals(Optional.of(fitting.grants()))) {
                store.publish(fitting.grants());
                known = Optional.of(fitting.grants());
            }
            metrics.published(fitting, store.mostBytes(), limit.ofAccount());
            return fitting.leftOut();
        } finally {
            publishing.unlock();
        }
    }

    /// Publishes again what somebody has removed or changed where nodes read it: they would let no pod in.
    ///
    /// @throws DriverException if that cannot be known or done now
    void keep() {
        lock();
        try {
            known.filter(wanted -> !store.last().equals(wanted)).ifPresent(wanted -> {
                LOG.warn("somebody has changed the grants where they are published; they are published again");
                store.publish(wanted);
            });
        } finally {
            publishing.unlock();
        }
    }

    private void lock() {
        try {
            if (!publishing.tryLock(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new DriverException.OperationPending("grants of other namespaces are being published; retry");
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("the driver is stopping; retry");
        }
    }
}
