package dev.siphon.controller.ceph.fs;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// Limits how many snapshots are measured at once: each holds the names of several thousand files in memory. Each
/// cluster has its own limit, so two clusters that hang leave room for the others.
final class SnapshotMeasurementLimit {
    /// Per cluster.
    static final int OF_A_CLUSTER = 3;

    /// Over all clusters.
    static final int OF_ALL = 8;

    private final Semaphore all = new Semaphore(OF_ALL, true);
    private final Map<String, Semaphore> clusters = new ConcurrentHashMap<>();

    /// Runs `measure` once fewer snapshots than the limits allow are being measured.
    ///
    /// @param patience how long to wait for the turn
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the turn does not come in time
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
                        "the snapshot was not measured: " + others + " are being measured; retry");
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
