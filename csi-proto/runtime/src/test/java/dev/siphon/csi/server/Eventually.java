package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// Waits up to 30 s for what another thread or process does.
final class Eventually {
    private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private Eventually() {}

    static void is(BooleanSupplier condition) {
        long end = System.nanoTime() + LONGEST_NANOS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() < end, "not within 30 s");
            LockSupport.parkNanos(STEP_NANOS);
        }
    }

    static void open(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
