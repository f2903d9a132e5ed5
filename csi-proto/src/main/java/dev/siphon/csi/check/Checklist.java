package dev.siphon.csi.check;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.report.Table;
import dev.siphon.csi.report.Table.Cell;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;

/// What is looked at, one thing after another, and what came of it. Each question has a thread of its own, which is
/// left to itself at the deadline: whatever hangs, there is a list at the end.
public final class Checklist {
    /// What a question gets beyond its time, so that the words about a deadline are its own.
    private static final Duration GRACE = Duration.ofSeconds(1);

    private final Duration limit;
    private final List<Line> lines = new ArrayList<>();

    private record Line(String what, CheckOutcome outcome) {}

    /// @param limit how long to wait for the answer to one question
    public Checklist(Duration limit) {
        this.limit = limit;
    }

    /// How long one question may take; what has deadlines itself should keep to it.
    public Duration limit() {
        return limit;
    }

    /// Asks, and judges the answer; a question that throws, or has no answer in time, has failed.
    ///
    /// @param what is looked at, in one or two words
    /// @param remedy what to do when there is no answer, by why there is none
    /// @param question may block; what it throws but a [DriverException] is a bug, and is thrown on
    /// @return the answer; empty if there is none
    public <T> Optional<T> check(
            String what,
            Function<DriverException, String> remedy,
            Supplier<T> question,
            Function<T, CheckOutcome> judge) {
        try {
            T answer = answer(question);
            note(what, judge.apply(answer));
            return Optional.of(answer);
        } catch (DriverException none) {
            note(what, new CheckOutcome.Failed(none.getMessage(), remedy.apply(none)));
            return Optional.empty();
        }
    }

    /// Adds what is known without asking.
    public void note(String what, CheckOutcome outcome) {
        lines.add(new Line(what, outcome));
    }

    private <T> T answer(Supplier<T> question) {
        CompletableFuture<T> answer = CompletableFuture.supplyAsync(
                question, Thread.ofPlatform().daemon().name("check")::start);
        try {
            return answer.get(limit.plus(GRACE).toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException _) {
            throw new DriverException.DeadlinePassed("there was no answer within " + limit.toSeconds() + " s");
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new DriverException.DeadlinePassed("interrupted before there was an answer");
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
        }
    }

    /// A row per thing, in the order in which they were looked at.
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

    /// A server's own words may be several.
    private static String oneLine(String words) {
        return words.replaceAll("\\p{Cntrl}+", " ").strip();
    }

    /// The exit status: 1 if something has failed, else 0.
    public int exit() {
        return lines.stream().anyMatch(line -> line.outcome() instanceof CheckOutcome.Failed) ? 1 : 0;
    }
}
