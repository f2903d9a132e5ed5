package dev.siphon.node.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.dataset.DatasetReplica.Turn;
import dev.siphon.csi.dataset.Digest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Turns by a clock of the test's own, which goes on whenever the node asks whether to give up.
@Timeout(60)
final class FillTurnsTest {
    private static final Digest DATASET = new Digest("a".repeat(64));
    private static final Duration STEP = Duration.ofSeconds(50);

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000_000); // it overflows soon
    private final FillTurns turns = new FillTurns(true, nanos::get);
    private final List<OptionalInt> queue = new ArrayList<>();

    private static Optional<Turn> turn(boolean isGiven, int before, int second) {
        Instant when = Instant.EPOCH.plusSeconds(second);
        return Optional.of(new Turn(isGiven, before, 0, when, when));
    }

    private boolean pass() {
        nanos.addAndGet(STEP.toNanos());
        return false;
    }

    @Test
    void withoutALimitNobodyWaits() {
        FillTurns free = new FillTurns(false, nanos::get);
        assertTrue(free.await(DATASET, () -> false, queue::add));
        assertFalse(free.isLost(DATASET));
        assertEquals(List.of(), queue);
    }

    @Test
    void aNodeWaitsAsLongAsTheControllerConfirmsIt() {
        AtomicInteger asked = new AtomicInteger();
        assertTrue(turns.await(
                DATASET,
                () -> {
                    int now = asked.incrementAndGet();
                    turns.told(DATASET.beginning(), turn(now == 10, 10 - now, now));
                    return pass();
                },
                queue::add));
        assertEquals(10, asked.get());
        assertEquals(OptionalInt.of(9), queue.getFirst());
        assertEquals(OptionalInt.empty(), queue.getLast());
        assertFalse(turns.isLost(DATASET));
    }

    @Test
    void whereTheControllerIsSilentTheNodeFillsAfterTwoMinutes() {
        AtomicInteger asked = new AtomicInteger();
        turns.told(DATASET.beginning(), turn(false, 3, 0));
        assertTrue(turns.await(
                DATASET,
                () -> {
                    asked.incrementAndGet();
                    return pass();
                },
                queue::add));
        assertEquals(4, asked.get(), "150 s later");
        assertFalse(turns.isLost(DATASET));
        turns.told(DATASET.beginning(), turn(false, 2, 1));
        assertTrue(turns.isLost(DATASET), "the controller is back, and it is another's turn");
    }

    @Test
    void aTurnThatAnotherNodeGotIsLost() {
        turns.told(DATASET.beginning(), turn(true, 0, 0));
        assertTrue(turns.await(DATASET, () -> false, queue::add));
        nanos.addAndGet(Duration.ofDays(1).toNanos());
        assertFalse(turns.isLost(DATASET), "a controller that is away takes no turn");
        turns.told(DATASET.beginning(), turn(false, 0, 1));
        assertTrue(turns.isLost(DATASET));
    }

    @Test
    void whoGivesUpWaitsNoLonger() {
        AtomicInteger changes = new AtomicInteger();
        turns.onChange(changes::incrementAndGet);
        AtomicInteger asked = new AtomicInteger();
        assertFalse(turns.await(DATASET, () -> asked.incrementAndGet() > 2, queue::add));
        turns.end(DATASET);
        assertEquals(List.of(OptionalInt.of(0), OptionalInt.empty()), queue);
        assertEquals(2, changes.get());
    }
}
