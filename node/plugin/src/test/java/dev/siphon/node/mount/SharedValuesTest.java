package dev.siphon.node.mount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class SharedValuesTest {
    private static final int CALLERS = 8;
    private static final int TIMES = 20_000;

    @Test
    void allWhoUseAKeyAtOnceHaveTheSameValue() {
        SharedValues<String, Object> values = new SharedValues<>(_ -> new Object(), _ -> false);

        Object outer = values.use("one", first -> {
            assertSame(first, values.use("one", Function.identity()));
            assertEquals(List.of("one"), values.keys().toList());
            return first;
        });

        assertEquals(Object.class, outer.getClass());
        assertEquals(0, values.keys().count());
    }

    @Test
    void aValueGoesAlsoWhenItsUseFails() {
        SharedValues<String, Object> values = new SharedValues<>(_ -> new Object(), _ -> false);
        try {
            values.use("one", _ -> {
                throw new IllegalStateException();
            });
        } catch (IllegalStateException _) {
            // thrown above
        }

        assertEquals(0, values.values().count());
    }

    @Test
    void aValueThatHasSomethingToRememberStays() {
        SharedValues<String, AtomicBoolean> values = new SharedValues<>(_ -> new AtomicBoolean(), AtomicBoolean::get);

        AtomicBoolean kept = values.use("one", value -> {
            value.set(true);
            return value;
        });

        assertSame(kept, values.use("one", Function.identity()));
        values.use("one", value -> value.getAndSet(false));
        assertEquals(0, values.keys().count());
    }

    @Test
    void aLockThatGoesWithItsLastUserLetsNoTwoInAtOnce() throws Exception {
        SharedValues<String, ReentrantLock> locks = new SharedValues<>(_ -> new ReentrantLock(), _ -> false);
        int[] count = {0}; // not atomic: concurrent callers lose increments
        Callable<Boolean> caller = () -> {
            for (int i = 0; i < TIMES; i++) {
                locks.use("one", lock -> {
                    lock.lock();
                    try {
                        return ++count[0];
                    } finally {
                        lock.unlock();
                    }
                });
            }
            return true;
        };
        try (ExecutorService threads = Executors.newFixedThreadPool(CALLERS)) {
            for (Future<Boolean> call : threads.invokeAll(Collections.nCopies(CALLERS, caller))) {
                assertTrue(call.get());
            }
        }

        assertEquals(CALLERS * TIMES, count[0]);
        assertEquals(0, locks.keys().count());
    }
}
