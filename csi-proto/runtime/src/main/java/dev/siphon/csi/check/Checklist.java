package dev.siphon.csi.check;

import dev.siphon.csi.DeadlineExecutor;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.report.Table;
import dev.siphon.csi.report.Table.Cell;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/// Runs checks one after another by a [DeadlineExecutor], and collects their results. The list is thus
/// complete at the end, even if a check hangs.
public final class Checklist {
    /// Extra time for a check, so that the error of its own deadline comes first.
    private static final Duration GRACE = Duration.ofSeconds(1);

    /// More than a command has.
    private static final int MOST_CHECKS = 100;

    private final DeadlineExecutor threads =
            new DeadlineExecutor(Thread.ofPlatform().daemon().name("check-", 0).factory(), MOST_CHECKS, MOST_CHECKS);
    private final Duration limit;
    private final List<Line> lines = new ArrayList<>();

    private record Line(String what, CheckOutcome outcome) {}

    /// @param limit time limit of one check
    public Checklist(Duration limit) {
        this.limit = limit;
    }

    /// Returns the time limit of one check; a check with deadlines of its own should use it.
    public Duration limit() {
        return limit;
    }

    /// Runs a check and judges its result. The check fails if it throws a [DriverException] or exceeds its
    /// deadline.
    ///
    /// @param what the subject of the check, in one or two words
    /// @param remedy what to do if there is no result, by the reason
    /// @param question may block; any exception other than a [DriverException] is a bug and is rethrown
    /// @return the result; empty if there is none
    public <T> Optional<T> check(
            String what,
            Function<DriverException, String> remedy,
            Supplier<T> question,
            Function<T, CheckOutcome> judge) {
        try {
            T answer = threads.check(what, what, limit.plus(GRACE), question);
            note(what, judge.apply(answer));
            return Optional.of(answer);
        } catch (DriverException none) {
            note(what, new CheckOutcome.Failed(none.getMessage(), remedy.apply(none)));
            return Optional.empty();
        }
    }

    /// Adds a result that needs no check.
    public void note(String what, CheckOutcome outcome) {
        lines.add(new Line(what, outcome));
    }

    /// Returns one row per result, in the order of the checks.
    public Table table() {
        Table table = new Table("check", "result", "found", "remedy");
        for (Line line : lines) {
            switch (line.outcome()) {
                case CheckOutcome.Ok(var found) -> row(table, line, "ok", found, "");
                case CheckOutcome.Warned(var found, var remedy) -> row(table, line, "warning", found, remedy);
                case CheckOutcome.Failed(var found, var remedy) -> row(table, line, "failed", found, remedy);
                case CheckOutcome.Skipped(var because) -> row(table, line, "skipped", "because " + because, "");
            }
        }
        return table;
    }

    private static void row(Table table, Line line, String result, String found, String remedy) {
        table.row(
                new Cell.Text(oneLine(line.what())),
                new Cell.Text(result),
                new Cell.Text(oneLine(found)),
                new Cell.Text(oneLine(remedy)));
    }

    /// Joins the lines of a text; a server's message may have several.
    private static String oneLine(String words) {
        return words.replaceAll("\\p{Cntrl}+", " ").strip();
    }

    /// Returns the exit status: 1 if a check failed, else 0.
    public int exit() {
        return lines.stream().anyMatch(line -> line.outcome() instanceof CheckOutcome.Failed) ? 1 : 0;
    }
}
