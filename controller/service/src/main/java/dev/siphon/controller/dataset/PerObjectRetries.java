package dev.siphon.controller.dataset;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Retries an operation per object, so that one failing object does not delay the others. An API server also
/// answers `500` for a single object, such as one at the size limit of etcd.
///
/// An object without a reply, or whose operation is refused, waits before it is retried: 0.5 s, then twice as long
/// each time, at most 15 s. One that has changed meanwhile need not wait. Retries run after all other objects. They
/// take at most a fifth of the time while any of them gets no reply.
///
/// Not thread-safe.
public final class PerObjectRetries {
    /// Ends a pass after this many consecutive objects without a reply: each may have taken 5 s.
    static final int MOST_IN_A_ROW = 20;

    /// Steps that run concurrently.
    static final int AT_ONCE = 10;

    static final Duration FIRST_DELAY = Duration.ofMillis(500);
    static final Duration LONGEST_DELAY = Duration.ofSeconds(15);

    /// After a failed retry, retries pause for this many times as long as it took.
    private static final int PAUSES = 4;

    private final LongSupplier nanoTime;

    /// Objects whose last attempt failed, the oldest attempt first.
    private final Map<String, Failure> failures = new LinkedHashMap<>();

    /// Earliest start of the next retry.
    private long retriesFrom;

    public PerObjectRetries() {
        this(System::nanoTime);
    }

    /// @param nanoTime [System#nanoTime]
    PerObjectRetries(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.retriesFrom = nanoTime.getAsLong();
    }

    /// The operation on one object.
    ///
    /// @param name of the object, always the same
    /// @param version equal as long as the object is unchanged: a changed one is tried at once
    /// @param act may run concurrently with those of other objects
    /// @param refused receives any other [DriverException] than [DriverException.BackendUnavailable]
    public record Step(String name, Object version, Runnable act, Consumer<DriverException> refused) {}

    /// @param version of the object at its last attempt
    /// @param delay before the next attempt
    /// @param due when this delay is over
    private record Failure(Object version, DriverException why, Duration delay, long due) {
        Failure dueAt(long now) {
            return new Failure(version, why, delay, now);
        }

        boolean isSilent() {
            return why instanceof DriverException.BackendUnavailable;
        }
    }

    /// Runs the steps that are due, several at once.
    ///
    /// @param steps of all existing objects: others are forgotten
    /// @return the failure of the first object that has no reply yet, whether it was tried now or still waits, for
    ///     the caller to throw once its other work is finished
    public Optional<DriverException.BackendUnavailable> take(List<Step> steps) {
        Map<String, Step> byName =
                steps.stream().collect(Collectors.toMap(Step::name, Function.identity(), (_, later) -> later));
        failures.keySet().retainAll(byName.keySet());
        List<Step> others = steps.stream()
                .filter(step -> !failures.containsKey(step.name()))
                .toList();
        int inARow = 0;
        for (int from = 0; from < others.size() && inARow < MOST_IN_A_ROW; from += AT_ONCE) {
            for (boolean isSilent : together(others.subList(from, Math.min(from + AT_ONCE, others.size())))) {
                inARow = isSilent ? inARow + 1 : 0;
            }
        }
        if (inARow < MOST_IN_A_ROW) {
            retry(byName);
        }
        return steps.stream()
                .flatMap(step -> Optional.ofNullable(failures.get(step.name())).stream())
                .flatMap(failure -> failure.why() instanceof DriverException.BackendUnavailable silent
                        ? Stream.of(silent)
                        : Stream.empty())
                .findFirst();
    }

    /// Retries until one gets no reply again. Where all get one, the API server was silent, and no other need wait
    /// longer.
    private void retry(Map<String, Step> steps) {
        long begun = nanoTime.getAsLong();
        List<Step> due = due(steps, begun);
        while (!due.isEmpty()) {
            boolean isSilent = together(due).contains(true);
            long now = nanoTime.getAsLong();
            if (isSilent) {
                Duration pause = Duration.ofNanos(now - begun).multipliedBy(PAUSES);
                retriesFrom = now + least(pause, LONGEST_DELAY).toNanos();
                return;
            }
            failures.replaceAll((_, failure) -> failure.isSilent() ? failure.dueAt(now) : failure);
            begun = now;
            due = due(steps, begun);
        }
    }

    private List<Step> due(Map<String, Step> steps, long now) {
        if (now - retriesFrom < 0) {
            return List.of();
        }
        List<Step> due = new ArrayList<>();
        failures.forEach((name, failure) -> {
            Step step = Optional.ofNullable(steps.get(name)).orElseThrow();
            // in the order of the last attempts, so that objects that change often do not come first
            if (!step.version().equals(failure.version()) || now - failure.due() >= 0) {
                due.add(step);
            }
        });
        return due.stream().limit(AT_ONCE).toList();
    }

    /// Runs steps and records their failures.
    ///
    /// @return for each step whether it got no reply
    private List<Boolean> together(List<Step> steps) {
        List<FutureTask<Optional<DriverException>>> tasks =
                steps.stream().map(step -> new FutureTask<>(() -> take(step))).toList();
        tasks.stream().skip(1).forEach(task -> Thread.ofVirtual().start(task));
        tasks.getFirst().run();
        List<Optional<DriverException>> failed =
                tasks.stream().map(PerObjectRetries::result).toList();
        for (int index = 0; index < steps.size(); index++) {
            remember(steps.get(index), failed.get(index));
        }
        return failed.stream()
                .map(why -> why.filter(DriverException.BackendUnavailable.class::isInstance)
                        .isPresent())
                .toList();
    }

    private void remember(Step step, Optional<DriverException> failed) {
        Optional<Failure> before = Optional.ofNullable(failures.remove(step.name()));
        failed.ifPresent(why -> {
            Duration delay = before.map(last -> least(last.delay().multipliedBy(2), LONGEST_DELAY))
                    .orElse(FIRST_DELAY);
            failures.put(step.name(), new Failure(step.version(), why, delay, nanoTime.getAsLong() + delay.toNanos()));
        });
    }

    private static Duration least(Duration one, Duration other) {
        return Collections.min(List.of(one, other));
    }

    private static Optional<DriverException> take(Step step) {
        try {
            step.act().run();
            return Optional.empty();
        } catch (DriverException.BackendUnavailable silent) {
            return Optional.of(silent);
        } catch (DriverException refused) {
            step.refused().accept(refused);
            return Optional.of(refused);
        }
    }

    private static <T> T result(FutureTask<T> task) {
        try {
            return task.get();
        } catch (ExecutionException unforeseen) {
            throw unforeseen.getCause() instanceof RuntimeException known
                    ? known
                    : new IllegalStateException(unforeseen.getCause());
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("the driver is stopping; retry");
        }
    }
}
