package dev.siphon.controller.ldap;

import com.unboundid.ldap.sdk.LDAPConnection;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Closes connections whose server takes too long in all. The SDK limits only how long a server says nothing:
/// one that sends a byte now and then would hold up a look-up for ever.
final class Watchdog implements AutoCloseable {
    private final Set<LDAPConnection> watched = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /// Until it is closed somebody waits for the server.
    @FunctionalInterface
    interface Watch extends AutoCloseable {
        @Override
        void close();
    }

    /// Closes the connection unless the watch over it is closed before `end`, or when all are given up.
    Watch over(LDAPConnection connection, Deadline end) {
        CountDownLatch done = new CountDownLatch(1);
        watched.add(connection);
        if (closed) {
            connection.closeWithoutUnbind();
        }
        Thread.ofVirtual().name("ldap-watch").start(() -> closeUnless(done, connection, end.left()));
        return () -> {
            watched.remove(connection);
            done.countDown();
        };
    }

    private static void closeUnless(CountDownLatch done, LDAPConnection connection, Duration left) {
        try {
            if (!done.await(left.toNanos(), TimeUnit.NANOSECONDS)) {
                connection.closeWithoutUnbind();
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    boolean isClosed() {
        return closed;
    }

    /// Ends all who wait, and who would. To close TLS can take as long as an answer, so each is closed by itself.
    @Override
    public void close() {
        closed = true;
        watched.forEach(each -> Thread.ofVirtual().name("ldap-close").start(each::closeWithoutUnbind));
    }
}
