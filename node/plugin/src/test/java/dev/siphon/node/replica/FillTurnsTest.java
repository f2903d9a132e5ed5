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
    private final List<FillStage> queue = new ArrayList<>();

    private static Optional<Turn> turn(boolean isGiven, int before, int second) {
        Instant when = Instant.EPOCH.plusSeconds(second);
        return Optional.of(new Turn(isGiven, before, 0, when, when));
    }

    private void tell(Optional<Turn> turn) {
        turns.told("u1.x", DATASET.beginning(), turn);
    }

    private boolean mayFillNow() {
        AtomicInteger asked = new AtomicInteger();
        boolean mayFill = turns.await(DATASET, () -> asked.incrementAndGet() > 1, queue::add);
        if (!mayFill) {
            turns.end(DATASET);
        }
        return mayFill;
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
                    tell(turn(now == 10, 10 - now, now));
                    return pass();
                },
                queue::add));
        assertEquals(10, asked.get());
        assertEquals(new FillStage.Queued(9), queue.getFirst());
        assertEquals(new FillStage.Idle(), queue.getLast());
        assertFalse(turns.isLost(DATASET));
    }

    @Test
    void whereTheControllerIsSilentTheNodeFillsAfterTwoMinutes() {
        AtomicInteger asked = new AtomicInteger();
        tell(turn(false, 3, 0));
        assertTrue(turns.await(
                DATASET,
                () -> {
                    asked.incrementAndGet();
                    return pass();
                },
                queue::add));
        assertEquals(4, asked.get(), "150 s later");
        assertFalse(turns.isLost(DATASET));
        tell(turn(false, 2, 1));
        assertTrue(turns.isLost(DATASET), "the controller is back, and it is another's turn");
    }

    @Test
    void aTurnThatAnotherNodeGotIsLost() {
        tell(turn(true, 0, 0));
        assertTrue(turns.await(DATASET, () -> false, queue::add));
        nanos.addAndGet(Duration.ofDays(1).toNanos());
        assertFalse(turns.isLost(DATASET), "a controller that is away takes no turn");
        tell(turn(false, 0, 1));
        assertTrue(turns.isLost(DATASET));
    }

    @Test
    void whoGivesUpWaitsNoLonger() {
        AtomicInteger changes = new AtomicInteger();
        turns.onChange(changes::incrementAndGet);
        AtomicInteger asked = new AtomicInteger();
        assertFalse(turns.await(DATASET, () -> asked.incrementAndGet() > 2, queue::add));
        turns.end(DATASET);
        assertEquals(List.of(new FillStage.Queued(0), new FillStage.Idle()), queue);
        assertEquals(2, changes.get());
    }

    @Test
    void theTurnOfEitherNameServes() {
        turns.told("u1.x", DATASET.beginning(), turn(true, 0, 0));
        turns.told("u2.y", DATASET.beginning(), turn(false, 3, 0));
        assertTrue(mayFillNow());
        assertFalse(turns.isLost(DATASET), "the other name waits");
        turns.told("u2.y", DATASET.beginning(), turn(true, 0, 1));
        turns.withdrawn("u1.x");
        assertFalse(turns.isLost(DATASET), "the other name has its turn");
        turns.told("u2.y", DATASET.beginning(), Optional.empty());
        assertTrue(turns.isLost(DATASET));
    }

    @Test
    void anotherDatasetsTurnServesNot() {
        turns.told("u2.y", "b".repeat(40), turn(true, 0, 0));
        assertFalse(mayFillNow());
        turns.told("u2.y", DATASET.beginning(), turn(true, 0, 0));
        assertTrue(mayFillNow(), "the name has another content by now");
        turns.told("u2.y", "b".repeat(40), turn(true, 0, 0));
        assertTrue(turns.isLost(DATASET));
    }

    /// Two minutes after it, the node fills as where nothing is declared.
    @Test
    void aFillWhoseOrderIsDeletedStopsAndWaitsAnew() {
        tell(turn(true, 0, 0));
        assertTrue(mayFillNow());
        nanos.addAndGet(Duration.ofHours(1).toNanos());
        turns.withdrawn("u1.x");
        assertTrue(turns.isLost(DATASET), "it does not count as two minutes of silence");
        nanos.addAndGet(FillTurns.SILENCE.toNanos());
        assertTrue(turns.isLost(DATASET));
        nanos.incrementAndGet();
        assertFalse(turns.isLost(DATASET));
    }

    @Test
    void aFillThatFailedNeedsAnotherTurn() {
        tell(turn(true, 0, 0));
        assertTrue(mayFillNow());
        turns.failed(DATASET);
        turns.end(DATASET);
        assertFalse(mayFillNow(), "the controller does not know yet");
        turns.told("u1.x", DATASET.beginning(), turn(true, 0, 0).map(FillTurnsTest::renewed));
        assertFalse(mayFillNow(), "it is the same turn");
        tell(turn(true, 0, 7));
        assertTrue(mayFillNow());
    }

    private static Turn renewed(Turn turn) {
        return new Turn(true, 0, 50, turn.since(), turn.renewed().plusSeconds(60));
    }
}
