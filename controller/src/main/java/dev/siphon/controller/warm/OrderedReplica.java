package dev.siphon.controller.warm;

import dev.siphon.csi.dataset.DatasetReplica.Order;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import dev.siphon.csi.dataset.DatasetReplica.State;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/// A replica that a node was told of.
///
/// @param name of the object
/// @param made when it was told
/// @param report what the node says; empty if nothing yet
public record OrderedReplica(String name, Instant made, Order order, Optional<Report> report) {
    /// How long a node that lives takes at most to say something.
    static final Duration SILENCE = Duration.ofSeconds(20);

    State state() {
        return report.map(Report::state).orElse(State.ABSENT);
    }

    boolean isLocal() {
        return state() == State.LOCAL;
    }

    /// What keeps it from getting whole; empty if it is on its way.
    Optional<String> trouble(Instant now) {
        if (report.isEmpty() && made.plus(SILENCE).isBefore(now)) {
            return Optional.of("node " + order.node() + " says nothing: does siphon-node run there?");
        }
        return report.filter(said -> said.state() == State.FAILED)
                .map(said -> "node " + order.node() + ": " + said.message().orElse("no reason given"));
    }

    /// How far it is, for people.
    String describe() {
        String how = report.filter(said -> said.state() == State.FILLING)
                .map(said -> said.percent() + " %")
                .orElseGet(() -> state().toString());
        return order.node() + " " + how;
    }

    /// What a node is to be told of, by the name of its object.
    record DatasetOnNode(String dataset, String node) {}

    DatasetOnNode place() {
        return new DatasetOnNode(order.dataset(), order.node());
    }

    /// How many per cent of it are there.
    int percent() {
        return report.map(Report::percent).orElse(0);
    }
}
