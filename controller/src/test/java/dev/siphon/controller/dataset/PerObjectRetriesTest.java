package dev.siphon.controller.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class PerObjectRetriesTest {
    private final PerObjectRetries attempts = new PerObjectRetries();
    private final List<String> done = new CopyOnWriteArrayList<>();
    private final List<String> refused = new CopyOnWriteArrayList<>();

    /// @param silent names of objects that get no reply
    private Optional<DriverException.BackendUnavailable> take(List<String> names, Set<String> silent) {
        done.clear();
        return attempts.take(names.stream()
                .map(name -> new PerObjectRetries.Step(
                        name,
                        () -> {
                            done.add(name);
                            if (silent.contains(name)) {
                                throw new DriverException.BackendUnavailable(name);
                            }
                            if (name.startsWith("no")) {
                                throw new DriverException.AccessDenied(name);
                            }
                        },
                        why -> refused.add(why.getMessage())))
                .toList());
    }

    @Test
    void oneThatGetsNoAnswerKeepsNoOther() {
        assertEquals(
                Optional.of("a"),
                take(List.of("a", "b", "no", "c"), Set.of("a", "c")).map(Throwable::getMessage));
        assertEquals(Set.of("a", "b", "no", "c"), Set.copyOf(done));
        assertEquals(List.of("no"), refused);
        assertTrue(take(List.of("a", "b", "c"), Set.of()).isEmpty());
        assertEquals(Set.of("a", "b", "c"), Set.copyOf(done));
    }

    /// Objects without a reply the last time come last.
    @Test
    void oneThatGotNoAnswerComesLast() {
        List<String> all = IntStream.range(0, 2 * PerObjectRetries.AT_ONCE)
                .mapToObj(index -> "n" + index)
                .toList();
        Set<String> silent = Set.of("n0", "n1");
        assertTrue(take(all, silent).isPresent());
        assertTrue(take(all, silent).isPresent());
        assertEquals(all.size(), done.size());
        assertTrue(done.subList(PerObjectRetries.AT_ONCE, done.size()).containsAll(silent), done::toString);
    }

    @Test
    void stepsOfOtherObjectsAreTakenAtTheSameTime() {
        CountDownLatch together = new CountDownLatch(PerObjectRetries.AT_ONCE);
        assertTrue(attempts.take(IntStream.range(0, PerObjectRetries.AT_ONCE)
                        .mapToObj(index -> new PerObjectRetries.Step(
                                "n" + index, () -> meet(together), why -> refused.add(why.getMessage())))
                        .toList())
                .isEmpty());
        assertEquals(List.of(), refused);
    }

    private static void meet(CountDownLatch together) {
        together.countDown();
        try {
            if (!together.await(20, TimeUnit.SECONDS)) {
                throw new DriverException.BackendFault("one after the other");
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Objects that never get a reply do not starve the others.
    @Test
    void whereNobodyIsAnsweredOthersAreAskedInTheNextLook() {
        List<String> bad =
                IntStream.range(0, 50).mapToObj(index -> "bad-" + index).toList();
        List<String> all = new ArrayList<>(bad);
        all.add("good");
        assertTrue(take(all, Set.copyOf(bad)).isPresent());
        assertEquals(Set.copyOf(bad.subList(0, PerObjectRetries.MOST_IN_A_ROW)), Set.copyOf(done));
        assertTrue(take(all, Set.copyOf(bad)).isPresent());
        assertEquals(Set.copyOf(bad.subList(20, 40)), Set.copyOf(done));
        assertTrue(take(all, Set.copyOf(bad)).isPresent());
        assertTrue(done.contains("good"));
        assertTrue(take(all, Set.copyOf(all)).isPresent());
        assertTrue(done.subList(0, PerObjectRetries.AT_ONCE).contains("good"));
    }
}
