package dev.siphon.controller.ceph.fs;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// How many snapshots are measured at once: each holds the names of some thousand files. A cluster has a share of
/// its own, so that two that hang leave room for the others.
final class SnapshotMeasurementLimit {
    /// Of one cluster.
    static final int OF_A_CLUSTER = 3;

    /// Of all clusters.
    static final int OF_ALL = 8;

    private final Semaphore all = new Semaphore(OF_ALL, true);
    private final Map<String, Semaphore> clusters = new ConcurrentHashMap<>();

    /// Measures when few others do.
    ///
    /// @param patience how long to wait for that
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if it is not its turn by then
    long take(String cluster, Duration patience, LongSupplier measure) {
        long end = System.nanoTime() + patience.toNanos();
        Semaphore own = clusters.computeIfAbsent(cluster, _ -> new Semaphore(OF_A_CLUSTER, true));
        return after(
                own,
                end,
                OF_A_CLUSTER + " others of cluster " + cluster,
                () -> after(all, end, OF_ALL + " others", measure));
    }

    private static long after(Semaphore turns, long end, String others, LongSupplier body) {
        try {
            if (!turns.tryAcquire(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                throw new DriverException.BackendUnavailable(
                        "the snapshot was not measured: " + others + " are; retry");
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("the driver is stopping; retry");
        }
        try {
            return body.getAsLong();
        } finally {
            turns.release();
        }
    }
}
