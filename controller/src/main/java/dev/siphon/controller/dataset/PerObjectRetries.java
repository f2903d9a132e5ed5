package dev.siphon.controller.dataset;

import dev.siphon.csi.DriverException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Retries an operation per object, so that one failing object does not block the others. An API server also
/// answers `500` for a single object, such as one at the size limit of etcd. Such an object moves to the end and is
/// retried in every pass.
///
/// Not thread-safe.
public final class PerObjectRetries {
    /// Ends a pass after this many consecutive objects without a reply: each may have taken 5 s.
    static final int MOST_IN_A_ROW = 20;

    /// Steps that run concurrently.
    static final int AT_ONCE = 10;

    /// Objects without a reply at their last attempt, the oldest attempt first.
    private final Set<String> unanswered = new LinkedHashSet<>();

    /// The operation on one object.
    ///
    /// @param name of the object, always the same
    /// @param act may run concurrently with those of other objects
    /// @param refused receives any other [DriverException] than [DriverException.BackendUnavailable]
    public record Step(String name, Runnable act, Consumer<DriverException> refused) {}

    /// Runs these steps, several at once; those without a reply in earlier passes run last.
    ///
    /// @param steps of all existing objects: others are forgotten
    /// @return the first failure to get a reply, for the caller to throw once its other work is finished
    public Optional<DriverException.BackendUnavailable> take(List<Step> steps) {
        unanswered.retainAll(steps.stream().map(Step::name).collect(Collectors.toSet()));
        List<DriverException.BackendUnavailable> failures = new ArrayList<>();
        int inARow = 0;
        List<Step> ordered = ordered(steps);
        for (int from = 0; from < ordered.size() && inARow < MOST_IN_A_ROW; from += AT_ONCE) {
            List<Step> some = ordered.subList(from, Math.min(from + AT_ONCE, ordered.size()));
            List<Optional<DriverException.BackendUnavailable>> silent = together(some);
            for (int index = 0; index < some.size(); index++) {
                String name = some.get(index).name();
                unanswered.remove(name);
                inARow = silent.get(index).isEmpty() ? 0 : inARow + 1;
                silent.get(index).ifPresent(failure -> {
                    failures.add(failure);
                    unanswered.add(name);
                });
            }
        }
        return failures.stream().findFirst();
    }

    /// @return for each step why it got no reply; empty if it got one
    private static List<Optional<DriverException.BackendUnavailable>> together(List<Step> steps) {
        List<FutureTask<Optional<DriverException.BackendUnavailable>>> tasks =
                steps.stream().map(step -> new FutureTask<>(() -> take(step))).toList();
        tasks.stream().skip(1).forEach(task -> Thread.ofVirtual().start(task));
        tasks.getFirst().run();
        return tasks.stream().map(PerObjectRetries::result).toList();
    }

    private static Optional<DriverException.BackendUnavailable> take(Step step) {
        try {
            step.act().run();
        } catch (DriverException.BackendUnavailable silent) {
            return Optional.of(silent);
        } catch (DriverException refused) {
            step.refused().accept(refused);
        }
        return Optional.empty();
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

    private List<Step> ordered(List<Step> steps) {
        List<String> last = List.copyOf(unanswered);
        Map<String, Integer> places =
                IntStream.range(0, last.size()).boxed().collect(Collectors.toMap(last::get, place -> place));
        return steps.stream()
                .sorted(Comparator.comparingInt(step -> places.getOrDefault(step.name(), -1)))
                .toList();
    }
}
