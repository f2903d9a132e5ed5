package dev.siphon.controller.warm;

import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/// Estimates how long fills take, from how fast they have been since this process saw them first. Not thread-safe.
final class FillTimes {
    /// Over less, a rate says nothing: nodes report whole percents.
    private static final Duration LEAST = Duration.ofSeconds(2);

    private static final int ALL = 100;

    private final Map<DatasetOnNode, Mark> begun = new HashMap<>();

    private record Mark(Instant when, int percent) {}

    /// Notes how far the replicas are, and forgets others.
    void seen(List<OrderedReplica> replicas, Instant now) {
        Set<DatasetOnNode> places = replicas.stream().map(OrderedReplica::place).collect(Collectors.toSet());
        begun.keySet().retainAll(places);
        for (OrderedReplica replica : replicas) {
            int percent = replica.percent();
            begun.merge(
                    replica.place(),
                    new Mark(now, percent),
                    (before, first) -> percent < before.percent() || percent == 0 ? first : before);
        }
    }

    /// Returns about how long a replica takes until it is whole; empty if not known yet.
    Optional<Duration> left(OrderedReplica replica, Instant now) {
        if (replica.isLocal()) {
            return Optional.of(Duration.ZERO);
        }
        return Optional.ofNullable(begun.get(replica.place()))
                .filter(mark -> replica.percent() > mark.percent()
                        && !Duration.between(mark.when(), now).minus(LEAST).isNegative())
                .map(mark -> Duration.between(mark.when(), now)
                        .multipliedBy(ALL - replica.percent())
                        .dividedBy(replica.percent() - mark.percent()));
    }
}
