package dev.siphon.controller.ldap;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Cuts connections whose server takes too long in all. The SDK limits only how long a server says nothing:
/// one that sends a byte now and then would hold up a look-up for ever.
final class ConnectionWatchdog implements AutoCloseable {
    private final Set<AbortableSocket> watched = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /// Until it is closed somebody waits for the server.
    @FunctionalInterface
    interface Watch extends AutoCloseable {
        @Override
        void close();
    }

    /// Cuts the connection unless the watch over it is closed before `end`, or when all are given up.
    Watch over(AbortableSocket socket, LookupDeadline end) {
        CountDownLatch done = new CountDownLatch(1);
        watched.add(socket);
        if (closed) {
            socket.cut();
        }
        Thread.ofVirtual().name("ldap-watch").start(() -> cutUnless(done, socket, end.left()));
        return () -> {
            watched.remove(socket);
            done.countDown();
        };
    }

    private static void cutUnless(CountDownLatch done, AbortableSocket socket, Duration left) {
        try {
            if (!done.await(left.toNanos(), TimeUnit.NANOSECONDS)) {
                socket.cut();
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
        watched.forEach(AbortableSocket::cut);
    }
}
