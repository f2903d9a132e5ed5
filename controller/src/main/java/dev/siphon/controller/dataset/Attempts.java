package dev.siphon.controller.dataset;

import dev.siphon.csi.DriverException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Does something to many objects, look by look, so that one to which it cannot be done keeps no other. An API server
/// answers `500` also for one object alone, as for one that is as large as etcd takes: that one comes last from then
/// on, and is tried again and again.
///
/// For one thread.
public final class Attempts {
    /// After how many that got no answer, one after the other, nobody is asked in this look any more: each may have
    /// taken 5 s.
    static final int MOST_IN_A_ROW = 20;

    /// Names of those that got no answer when they were tried last; first who was tried longest ago.
    private final Set<String> unanswered = new LinkedHashSet<>();

    /// What is to be done to one object.
    ///
    /// @param name the object's, always the same
    /// @param refused gets what is thrown that is no [DriverException.BackendUnavailable]
    public record Step(String name, Runnable act, Consumer<DriverException> refused) {}

    /// Takes these steps, those last that got no answer before.
    ///
    /// @param steps of all objects that there are: others are forgotten
    /// @return the first failure to get an answer, to be thrown when nothing else is to be done
    public Optional<DriverException.BackendUnavailable> take(List<Step> steps) {
        unanswered.retainAll(steps.stream().map(Step::name).collect(Collectors.toSet()));
        List<DriverException.BackendUnavailable> failures = new ArrayList<>();
        int inARow = 0;
        for (Step step : ordered(steps)) {
            boolean wasAnswered = false;
            try {
                step.act().run();
                wasAnswered = true;
            } catch (DriverException.BackendUnavailable silent) {
                failures.add(silent);
            } catch (DriverException refused) {
                step.refused().accept(refused);
                wasAnswered = true;
            }
            unanswered.remove(step.name());
            inARow = wasAnswered ? 0 : inARow + 1;
            if (!wasAnswered) {
                unanswered.add(step.name());
            }
            if (inARow == MOST_IN_A_ROW) {
                break;
            }
        }
        return failures.stream().findFirst();
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
