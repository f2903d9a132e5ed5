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

/// Publishes the grants for nodes, one change at a time.
final class GrantsPublication {
    private static final Logger LOG = LoggerFactory.getLogger(GrantsPublication.class);

    /// How long to wait for other publications.
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final GrantsStore store;
    private final GrantsCapacity limit;
    private final GrantsMetrics metrics;

    /// Held during a publication. A store may take seconds, and readers must not wait for it.
    private final ReentrantLock publishing = new ReentrantLock();

    private volatile State state = new State.Unpublished();
    private volatile boolean wasPartial;

    /// What this process has published.
    private sealed interface State {
        /// Nothing yet.
        record Unpublished() implements State {}

        /// @param inForce more than the published grants if the store may be partial
        record Published(Grants grants, Grants inForce) implements State {}
    }

    GrantsPublication(GrantsStore store, GrantsMetrics metrics) {
        this.store = store;
        this.limit = new GrantsCapacity(store.mostBytes(), store.where());
        this.metrics = metrics;
    }

    /// Returns whether an earlier controller published only part of its grants; false until the store has been
    /// read.
    boolean wasPartial() {
        return wasPartial;
    }

    /// Returns the grants of this controller; empty before its first publication.
    Optional<Grants> known() {
        return state instanceof State.Published all ? Optional.of(all.inForce()) : Optional.empty();
    }

    /// Returns the grants in force, or those last published by an earlier controller.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the store cannot be read
    Grants granted() {
        return known().orElseGet(this::last);
    }

    /// Reads the last publication and treats it as whole; groups and datasets supply what it lacks.
    private Grants last() {
        Grants last = store.last();
        wasPartial = !last.partial().isEmpty();
        return new Grants(last.groups(), last.datasets());
    }

    /// Returns the warnings about space for grants.
    Set<String> warnings() {
        return metrics.told();
    }

    /// Returns whether nodes find unpublished grants elsewhere.
    boolean isPartial() {
        return store.isPartial();
    }

    /// Applies a change to the grants and publishes them. It starts from the last publication, so that a restart
    /// revokes nothing. Revocations are published even if new grants do not fit.
    ///
    /// @return why a grant is not published, by its group's place or its dataset's name
    /// @throws DriverException.OperationPending (ABORTED) if other grants are being published for too long
    /// @throws DriverException whatever [GrantsStore#publish] throws
    Map<String, String> publish(UnaryOperator<Grants> change) {
        lock();
        try {
            Grants before = granted();
            Grants wanted = change.apply(before);
            Optional<Grants> published = published();
            GrantsCapacity.Fitting fitting = limit.fit(published.orElse(before), wanted);
            if (!published.equals(Optional.of(fitting.grants()))) {
                store.publish(fitting.grants());
            }
            state = new State.Published(fitting.grants(), store.isPartial() ? wanted : fitting.grants());
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

    /// Publishes the grants again if somebody removed or changed them; otherwise nodes would refuse all pods.
    ///
    /// @throws DriverException if the store cannot be read or written
    void republish() {
        lock();
        try {
            published().filter(wanted -> !store.last().equals(wanted)).ifPresent(wanted -> {
                LOG.warn("somebody changed the published grants; they are published again");
                store.publish(wanted);
            });
        } finally {
            publishing.unlock();
        }
    }

    private Optional<Grants> published() {
        return state instanceof State.Published all ? Optional.of(all.grants()) : Optional.empty();
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
