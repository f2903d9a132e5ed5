package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class FairQueueTest {
    private final FairQueue<String> queue = new FairQueue<>(4);

    private List<String> rest() {
        List<String> rest = new ArrayList<>();
        for (Optional<String> next = queue.next(_ -> true); next.isPresent(); next = queue.next(_ -> true)) {
            rest.add(next.get());
        }
        return rest;
    }

    private void add(String... items) {
        for (String item : items) {
            assertEquals(Optional.empty(), queue.add(item.substring(0, 1), item), item);
        }
    }

    @Test
    void ownersTakeTurns() {
        add("a1", "a2", "a3", "b1");
        assertEquals(List.of("a1", "b1", "a2", "a3"), rest());
        assertEquals(0, queue.size());
    }

    @Test
    void whoHasTheMostGivesWay() {
        add("a1", "a2", "a3", "a4");
        assertEquals(Optional.of("a5"), queue.add("a", "a5"));
        assertEquals(Optional.of("a4"), queue.add("b", "b1"));
        assertEquals(Optional.of("a3"), queue.add("c", "c1"));
        assertEquals(Optional.of("b2"), queue.add("b", "b2"), "it would have as many as the other");
        assertEquals(List.of("a1", "b1", "c1", "a2"), rest());
    }

    @Test
    void anOwnerWithoutATurnKeepsItsPlace() {
        add("a1", "a2", "b1");
        assertEquals(Optional.of("b1"), queue.next(owner -> !owner.equals("a")));
        assertEquals(Optional.empty(), queue.next(owner -> !owner.equals("a")));
        assertEquals(List.of("a1", "a2"), rest());
    }

    @Test
    void whatIsTakenOutMakesRoom() {
        add("a1", "a2", "b1", "c1");
        queue.remove("a", "a1");
        queue.remove("b", "b1");
        queue.remove("b", "b1");
        queue.remove("d", "d1");
        add("b2", "b3");
        assertEquals(4, queue.size());
        assertEquals(List.of("a2", "c1", "b2", "b3"), rest());
    }
}
