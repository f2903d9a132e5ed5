package dev.siphon.controller.grant;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
    private final GrantsCapacity limit;
    private final GrantsMetrics metrics;

    /// Held while something is published: a store may take seconds for that, in which others need to see
    /// what is known.
    private final ReentrantLock publishing = new ReentrantLock();

    /// What is published; empty until it is known what was published last.
    private volatile Optional<Grants> known = Optional.empty();

    /// What is granted; more than what is published where the store may be partial.
    private volatile Optional<Grants> granted = Optional.empty();

    private volatile boolean wasPartial;

    GrantsPublication(GrantsStore store, GrantsMetrics metrics) {
        this.store = store;
        this.limit = new GrantsCapacity(store.mostBytes(), store.where());
        this.metrics = metrics;
    }

    /// Whether what an earlier controller published was not all that it had granted; false until somebody has
    /// looked.
    boolean wasPartial() {
        return wasPartial;
    }

    /// What this controller has granted.
    Optional<Grants> known() {
        return granted;
    }

    /// What is granted, or was last published by an earlier controller.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if that cannot be known now
    Grants granted() {
        return granted.orElseGet(this::last);
    }

    /// The groups and the datasets have what it lacks.
    private Grants last() {
        Grants last = store.last();
        wasPartial = !last.partial().isEmpty();
        return new Grants(last.groups(), last.datasets());
    }

    /// What there is to be said of the room for them.
    Set<String> warnings() {
        return metrics.told();
    }

    /// Whether nodes find elsewhere what is not published.
    boolean isPartial() {
        return store.isPartial();
    }

    /// Publishes what is known with a change to it. Begins with what was published last, so that no restart
    /// takes a grant away. What is taken back is published whether what is new fits or not.
    ///
    /// @return why a grant is not published, by the place of its group or the name of its dataset
    /// @throws DriverException whatever [GrantsStore#publish] throws
    Map<String, String> publish(UnaryOperator<Grants> change) {
        lock();
        try {
            Grants before = granted();
            Grants wanted = change.apply(before);
            GrantsCapacity.Fitting fitting = limit.fit(known.orElse(before), wanted);
            if (!known.equals(Optional.of(fitting.grants()))) {
                store.publish(fitting.grants());
                known = Optional.of(fitting.grants());
            }
            granted = store.isPartial() ? Optional.of(wanted) : known;
            metrics.published(fitting, limit);
            return fitting.leftOut();
        } finally {
            publishing.unlock();
        }
    }

    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if `what` is left out
    static void refuse(Map<String, String> leftOut, String what) {
        Optional.ofNullable(leftOut.get(what)).ifPresent(why -> {
            throw new DriverException.QuotaExhausted("a new grant for " + what + " cannot be published: " + why);
        });
    }

    /// Publishes again what somebody has removed or changed where nodes read it: they would let no pod in.
    ///
    /// @throws DriverException if that cannot be known or done now
    void republish() {
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
