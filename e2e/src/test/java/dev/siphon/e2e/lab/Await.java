package dev.siphon.e2e.lab;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// Waits for events that happen elsewhere.
public final class Await {
    private static final Duration POLL = Duration.ofMillis(20);

    private Await() {}

    /// Waits until `condition` holds.
    ///
    /// @return how long that took
    /// @throws AssertionError if it does not hold within `atMost`
    public static Duration until(String what, Duration atMost, BooleanSupplier condition) {
        long began = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - began > atMost.toNanos()) {
                throw new AssertionError("not within " + atMost + ": " + what);
            }
            LockSupport.parkNanos(POLL.toNanos());
        }
        return Duration.ofNanos(System.nanoTime() - began);
    }

    /// Lets time pass while a fault or a load continues on other threads.
    public static void pass(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
