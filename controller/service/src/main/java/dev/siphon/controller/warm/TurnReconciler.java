package dev.siphon.controller.warm;

import dev.siphon.controller.dataset.PerObjectRetries;
import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import dev.siphon.controller.warm.TurnDecision.Change;
import dev.siphon.controller.warm.TurnDecision.ObservedTurns;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.DatasetReplica.State;
import dev.siphon.csi.dataset.DatasetReplica.Turn;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Writes the turns that [TurnDecision] decides. Used by one thread.
final class TurnReconciler {
    private static final Logger LOG = LoggerFactory.getLogger(TurnReconciler.class);

    private final WarmupCluster cluster;
    private final int limit;
    private final GateMetrics metrics;
    private final PerObjectRetries gives = new PerObjectRetries();
    private final PerObjectRetries others = new PerObjectRetries();

    /// What was written of turns that the watch may not show yet: another round must not give the same
    /// turn to another node.
    private final Map<Written.Of, Written> written = new ConcurrentHashMap<>();

    /// When all turns were last written. If that is long ago, or unknown, nodes may fill without one.
    private Optional<Instant> last = Optional.empty();

    /// @param earlier what the watch may still show
    private record Written(List<Optional<Turn>> earlier, Optional<Turn> last) {
        /// An object. One that was deleted and made again has no turn yet.
        private record Of(String name, Instant made) {
            static Of replica(OrderedReplica replica) {
                return new Of(replica.name(), replica.made());
            }
        }

        Written then(Optional<Turn> next) {
            return new Written(Stream.concat(earlier.stream(), Stream.of(last)).toList(), next);
        }
    }

    /// @param limit of fills at once in the cluster; 0 for none
    TurnReconciler(WarmupCluster cluster, int limit, GateMetrics metrics) {
        this.cluster = cluster;
        this.limit = limit;
        this.metrics = metrics;
    }

    /// Runs one round.
    ///
    /// @param replicas all current orders, without those that are deleted now
    /// @param awaited the fills that pods wait for
    /// @return the first failed request, if any
    Optional<DriverException.BackendUnavailable> reconcile(
            List<OrderedReplica> replicas, Set<DatasetOnNode> awaited, Instant now) {
        written.keySet().retainAll(replicas.stream().map(Written.Of::replica).toList());
        metrics.fills(count(replicas, State.FILLING), count(replicas, State.QUEUED));
        boolean wasAway =
                last.filter(then -> then.plus(TurnDecision.START).isAfter(now)).isEmpty();
        List<Change> changes = TurnDecision.decide(new ObservedTurns(
                now.truncatedTo(ChronoUnit.MILLIS),
                limit,
                replicas.stream().map(this::asWritten).toList(),
                awaited,
                wasAway));
        // a turn that ends is written before another begins: a leader that dies in between leaves no more than the
        // limit
        Optional<DriverException.BackendUnavailable> ending = others.take(steps(changes, false));
        Optional<DriverException.BackendUnavailable> beginning = gives.take(steps(changes, true));
        Optional<DriverException.BackendUnavailable> failed = ending.or(() -> beginning);
        last = failed.isEmpty() ? Optional.of(now) : last;
        return failed;
    }

    private List<PerObjectRetries.Step> steps(List<Change> changes, boolean isGiven) {
        return changes.stream()
                .filter(change -> change.isGiven() == isGiven)
                .map(this::step)
                .toList();
    }

    private static int count(List<OrderedReplica> replicas, State state) {
        return (int) replicas.stream()
                .filter(replica -> replica.state() == state)
                .map(OrderedReplica::fill)
                .distinct()
                .count();
    }

    private OrderedReplica asWritten(OrderedReplica replica) {
        Optional<Turn> shown = replica.order().turn();
        Optional<Written> ours = Optional.ofNullable(written.get(Written.Of.replica(replica)))
                .filter(each -> each.earlier().contains(shown));
        if (ours.isEmpty()) {
            written.remove(Written.Of.replica(replica));
        }
        return ours.map(each -> replica.with(each.last())).orElse(replica);
    }

    private PerObjectRetries.Step step(Change change) {
        OrderedReplica replica = change.replica();
        Written before = Optional.ofNullable(written.get(Written.Of.replica(replica)))
                .orElse(new Written(List.of(), replica.order().turn()));
        return new PerObjectRetries.Step(
                replica.name(),
                // without its times, which differ in each round
                List.of(change.turn().map(Turn::isGiven), replica.state()),
                () -> {
                    written.put(Written.Of.replica(replica), before.then(change.turn()));
                    write(change);
                },
                refused -> LOG.warn(
                        "the turn of DatasetReplica {} is not written: {}", replica.name(), refused.getMessage()));
    }

    /// A turn that was given without a reply may be written. If it is not, it ends as one that the node did not use.
    private void write(Change change) {
        boolean isKnown = change.isGiven();
        try {
            cluster.setTurn(change.replica(), change.turn());
            isKnown = true;
        } finally {
            if (!isKnown) {
                written.remove(Written.Of.replica(change.replica()));
            }
        }
    }
}
