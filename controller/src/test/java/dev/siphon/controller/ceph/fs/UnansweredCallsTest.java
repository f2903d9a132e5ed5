package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.controller.volume.Group;
import dev.siphon.csi.DriverException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

final class UnansweredCallsTest {
    private static final Group ONE = new Group("lab", "fs", "one");
    private static final Group OTHER = new Group("lab", "fs", "other");

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
    private final UnansweredCalls calls = new UnansweredCalls(now::get);

    /// Looks while so many calls of [#ONE] have no answer.
    private <T> T during(int unanswered, Supplier<T> look) {
        return unanswered == 0 ? look.get() : calls.run(ONE, () -> during(unanswered - 1, look));
    }

    private void passes(long nanos) {
        now.addAndGet(nanos);
    }

    @Test
    void whoseCallsAreKeptBeginsNoMoreAndOthersDo() {
        String others = during(UnansweredCalls.MOST, () -> {
            passes(UnansweredCalls.LONG.toNanos() + 1);
            assertThrows(DriverException.OperationPending.class, () -> calls.run(ONE, () -> "begun"));
            return calls.run(OTHER, () -> "served");
        });
        assertEquals("served", others);
        assertEquals("begun", calls.run(ONE, () -> "begun"));
    }

    @Test
    void manyCallsAtOnceThatAreAnsweredAreNone() {
        assertEquals("begun", during(10 * UnansweredCalls.MOST, () -> {
            passes(UnansweredCalls.LONG.toNanos());
            return calls.run(ONE, () -> "begun");
        }));
    }

    @Test
    void fewThatAreKeptHoldUpNobody() {
        assertEquals("begun", during(UnansweredCalls.MOST - 1, () -> {
            passes(2 * UnansweredCalls.LONG.toNanos());
            return calls.run(ONE, () -> "begun");
        }));
    }
}
