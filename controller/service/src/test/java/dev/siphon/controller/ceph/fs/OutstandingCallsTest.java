package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

final class OutstandingCallsTest {
    private static final SubvolumeGroup ONE = new SubvolumeGroup("lab", "fs", "one");
    private static final SubvolumeGroup OTHER = new SubvolumeGroup("lab", "fs", "other");

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
    private final OutstandingCalls calls = new OutstandingCalls(now::get);

    /// Runs `look` while this many calls of [#ONE] are unanswered.
    private <T> T during(int unanswered, Supplier<T> look) {
        return unanswered == 0 ? look.get() : calls.run(ONE, () -> during(unanswered - 1, look));
    }

    private void passes(long nanos) {
        now.addAndGet(nanos);
    }

    @Test
    void whoseCallsAreKeptBeginsNoMoreAndOthersDo() {
        String others = during(OutstandingCalls.MOST, () -> {
            passes(OutstandingCalls.LONG.toNanos() + 1);
            assertThrows(DriverException.OperationPending.class, () -> calls.run(ONE, () -> "begun"));
            return calls.run(OTHER, () -> "served");
        });
        assertEquals("served", others);
        assertEquals("begun", calls.run(ONE, () -> "begun"));
    }

    @Test
    void manyCallsAtOnceThatAreAnsweredAreNone() {
        assertEquals("begun", during(10 * OutstandingCalls.MOST, () -> {
            passes(OutstandingCalls.LONG.toNanos());
            return calls.run(ONE, () -> "begun");
        }));
    }

    @Test
    void fewThatAreKeptHoldUpNobody() {
        assertEquals("begun", during(OutstandingCalls.MOST - 1, () -> {
            passes(2 * OutstandingCalls.LONG.toNanos());
            return calls.run(ONE, () -> "begun");
        }));
    }
}
