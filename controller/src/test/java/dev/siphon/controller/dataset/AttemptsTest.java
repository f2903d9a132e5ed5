package dev.siphon.controller.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class AttemptsTest {
    private final Attempts attempts = new Attempts();
    private final List<String> done = new ArrayList<>();
    private final List<String> refused = new ArrayList<>();

    /// @param silent names of those that get no answer
    private Optional<DriverException.BackendUnavailable> take(List<String> names, Set<String> silent) {
        done.clear();
        return attempts.take(names.stream()
                .map(name -> new Attempts.Step(
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
    void oneThatGetsNoAnswerKeepsNoOtherAndComesLast() {
        assertEquals(
                Optional.of("a"),
                take(List.of("a", "b", "no", "c"), Set.of("a", "c")).map(Throwable::getMessage));
        assertEquals(List.of("a", "b", "no", "c"), done);
        assertEquals(List.of("no"), refused);
        assertTrue(take(List.of("a", "b", "no", "c"), Set.of("c")).isPresent());
        assertEquals(List.of("b", "no", "a", "c"), done);
        assertTrue(take(List.of("a", "b", "c"), Set.of()).isEmpty());
        assertEquals(List.of("a", "b", "c"), done);
    }

    /// Nor does anybody starve behind those that never are.
    @Test
    void whereNobodyIsAnsweredOthersAreAskedInTheNextLook() {
        List<String> bad =
                IntStream.range(0, 50).mapToObj(index -> "bad-" + index).toList();
        List<String> all = new ArrayList<>(bad);
        all.add("good");
        assertTrue(take(all, Set.copyOf(bad)).isPresent());
        assertEquals(bad.subList(0, Attempts.MOST_IN_A_ROW), done);
        assertTrue(take(all, Set.copyOf(bad)).isPresent());
        assertEquals(bad.subList(20, 40), done);
        assertTrue(take(all, Set.copyOf(bad)).isPresent());
        assertTrue(done.contains("good"));
        assertTrue(take(all, Set.copyOf(all)).isPresent());
        assertEquals("good", done.getFirst());
    }
}
