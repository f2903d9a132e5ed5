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

/// Does something to many objects, look by look, so that one to which it cannot be done keeps no other. An API
/// server answers `500` also for one object alone, as for one that is as large as etcd takes: that one comes last
/// from then on, and is tried again and again.
///
/// To be called by one thread.
public final class PerObjectRetries {
    /// After how many that got no answer, one after the other, nobody is asked in this look any more: each may have
    /// taken 5 s.
    static final int MOST_IN_A_ROW = 20;

    /// How many steps are taken at the same time.
    static final int AT_ONCE = 10;

    /// Names of those that got no answer when they were tried last; first who was tried longest ago.
    private final Set<String> unanswered = new LinkedHashSet<>();

    /// What is to be done to one object.
    ///
    /// @param name the object's, always the same
    /// @param act may be taken while those of other objects are
    /// @param refused gets what is thrown that is no [DriverException.BackendUnavailable]
    public record Step(String name, Runnable act, Consumer<DriverException> refused) {}

    /// Takes these steps, some at once, those last that got no answer before.
    ///
    /// @param steps of all objects that there are: others are forgotten
    /// @return the first failure to get an answer, to be thrown when nothing else is to be done
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

    /// @return of each step why it got no answer; empty if it got one
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
