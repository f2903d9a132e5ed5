package dev.siphon.controller.ldap;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Cuts connections whose server takes too long in all. The SDK limits only how long a server says nothing:
/// one that sends a byte now and then would hold up a look-up for ever.
final class Watchdog implements AutoCloseable {
    private final Set<Wire> watched = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /// Until it is closed somebody waits for the server.
    @FunctionalInterface
    interface Watch extends AutoCloseable {
        @Override
        void close();
    }

    /// Cuts the connection unless the watch over it is closed before `end`, or when all are given up.
    Watch over(Wire wire, Deadline end) {
        CountDownLatch done = new CountDownLatch(1);
        watched.add(wire);
        if (closed) {
            wire.cut();
        }
        Thread.ofVirtual().name("ldap-watch").start(() -> cutUnless(done, wire, end.left()));
        return () -> {
            watched.remove(wire);
            done.countDown();
        };
    }

    private static void cutUnless(CountDownLatch done, Wire wire, Duration left) {
        try {
            if (!done.await(left.toNanos(), TimeUnit.NANOSECONDS)) {
                wire.cut();
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    boolean isClosed() {
        return closed;
    }

    /// Ends all who wait, and who would.
    @Override
    public void close() {
        closed = true;
        watched.forEach(Wire::cut);
    }
}
