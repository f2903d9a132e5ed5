package dev.siphon.controller.warm;

import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.dataset.DatasetReplica.Order;
import dev.siphon.csi.dataset.DatasetReplica.Question;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import dev.siphon.csi.dataset.DatasetReplica.State;
import dev.siphon.csi.dataset.DatasetReplica.Turn;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/// A replica that a node was ordered to fill.
///
/// @param name the object's name
/// @param made when it was ordered
/// @param report the node's report; empty if there is none yet
public record OrderedReplica(String name, Instant made, Order order, Optional<Report> report) {
    /// A live node reports within this time.
    static final Duration SILENCE = Duration.ofSeconds(20);

    State state() {
        return report.map(Report::state).orElse(State.ABSENT);
    }

    /// Whether pods can read it from the disk now.
    public boolean isLocal() {
        return state() == State.LOCAL;
    }

    /// Returns whether its volume still has the dataset's name. A dataset may be declared again, with another volume.
    boolean isOf(Map<String, Shared> declared) {
        return Optional.ofNullable(declared.get(order.dataset()))
                .filter(shared -> shared.volume().equals(order.volume()))
                .isPresent();
    }

    /// Returns the node's question if it has no answer yet.
    Optional<Question> question() {
        return report.flatMap(Report::question)
                .filter(question -> order.access().stream()
                        .noneMatch(answer -> answer.request().equals(question.request())));
    }

    /// Returns why the replica does not become whole; empty if it is on its way.
    Optional<String> trouble(Instant now) {
        if (report.isEmpty() && made.plus(SILENCE).isBefore(now)) {
            return Optional.of("node " + order.node() + " does not report: check that siphon-node runs there");
        }
        return report.filter(said -> said.state() == State.FAILED)
                .map(said -> "node " + order.node() + ": " + said.message().orElse("no reason given"));
    }

    /// Returns its progress in words.
    public String progress() {
        String how = report.map(said -> switch (said.state()) {
                    case FILLING -> said.percent() + " %";
                    case LOCAL -> "whole";
                    case WAITING -> "not begun";
                    case QUEUED -> waiting();
                    case ABSENT -> said.percent() == 0 ? "nothing yet" : said.percent() + " %, but it fills no more";
                    case FAILED -> "failed: " + said.message().orElse("no reason given");
                })
                .orElse("no report of the node yet");
        return how + " on node " + order.node();
    }

    /// Returns its progress, for people.
    String describe() {
        String how = switch (state()) {
            case FILLING -> percent() + " %";
            case QUEUED -> waiting();
            case ABSENT, WAITING, LOCAL, FAILED -> state().toString();
        };
        return order.node() + " " + how;
    }

    private String waiting() {
        return order.turn()
                .filter(turn -> !turn.isGiven())
                .map(turn -> Turn.waiting(turn.before()))
                .orElse("has its turn, or waits for it");
    }

    /// Returns the same replica with another turn.
    OrderedReplica with(Optional<Turn> turn) {
        return new OrderedReplica(name, made, order.with(turn), report);
    }

    /// The dataset and the node of an order; they determine the object's name.
    record DatasetOnNode(String dataset, String node) {}

    DatasetOnNode place() {
        return new DatasetOnNode(order.dataset(), order.node());
    }

    /// A dataset's content on a node, which is filled once although it may have several names, each with its own order.
    ///
    /// @param digest the beginning of its digest
    record NodeFill(String node, String digest) {}

    NodeFill fill() {
        return new NodeFill(order.node(), order.volume().digest());
    }

    /// Returns [Report#progressBytes].
    long progressBytes() {
        return report.map(Report::progressBytes).orElse(0L);
    }

    /// Returns the filled part in percent.
    int percent() {
        return report.map(Report::percent).orElse(0);
    }
}
