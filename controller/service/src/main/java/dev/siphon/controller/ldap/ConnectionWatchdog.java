package dev.siphon.controller.ldap;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Cuts connections whose server exceeds the total time limit. The SDK limits only silence: a server that sends a
/// byte now and then would block a lookup for ever.
final class ConnectionWatchdog implements AutoCloseable {
    private final Set<AbortableSocket> watched = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /// Covers one wait for the server, until it is closed.
    @FunctionalInterface
    interface Watch extends AutoCloseable {
        @Override
        void close();
    }

    /// Cuts the connection unless the returned watch is closed before `end`. Cuts it also when this watchdog is
    /// closed.
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

    /// Cuts all watched connections, and all that are watched later.
    @Override
    public void close() {
        closed = true;
        watched.forEach(AbortableSocket::cut);
    }
}
