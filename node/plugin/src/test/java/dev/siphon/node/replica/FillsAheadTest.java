package dev.siphon.node.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class FillsAheadTest {
    private static final Digest DATASET = Digest.of(ByteBuffer.wrap(new byte[] {1}));

    private final AtomicLong now = new AtomicLong();
    private final FillsAhead fills = new FillsAhead(now::get);

    private void pass(Duration time) {
        now.addAndGet(time.toNanos());
    }

    @Test
    void aFillCountsFromItsBeginningForSomeMinutes() {
        fills.begins(DATASET);
        pass(Duration.ofSeconds(42));
        assertEquals(Optional.empty(), fills.of(DATASET), "before it has ended");
        assertTrue(fills.until(DATASET, () -> true));
        pass(FillsAhead.LASTS);

        assertEquals(Optional.of(Duration.ofSeconds(42)), fills.of(DATASET));
        pass(Duration.ofNanos(1));
        assertEquals(Optional.empty(), fills.of(DATASET));
    }

    @Test
    void aFailedAttemptDoesNotCount() {
        fills.begins(DATASET);
        pass(Duration.ofSeconds(100));
        assertFalse(fills.until(DATASET, () -> false));
        assertEquals(Optional.empty(), fills.of(DATASET));
        fills.begins(DATASET);
        assertThrows(
                DriverException.InUse.class,
                () -> fills.until(DATASET, () -> {
                    throw new DriverException.InUse("no disk");
                }));
        assertEquals(Optional.empty(), fills.of(DATASET));
        fills.begins(DATASET);
        pass(Duration.ofSeconds(3));
        assertTrue(fills.until(DATASET, () -> true));

        assertEquals(Optional.of(Duration.ofSeconds(3)), fills.of(DATASET));
    }

    @Test
    void aReplicaThatWasThereIsNoFill() {
        assertTrue(fills.until(DATASET, () -> true));

        assertEquals(Optional.empty(), fills.of(DATASET));
    }
}
