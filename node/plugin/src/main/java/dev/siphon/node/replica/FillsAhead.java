package dev.siphon.node.replica;

import dev.siphon.csi.dataset.Digest;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/// Remembers how long replicas took that were filled on an order or a command, before any pod read their datasets.
/// Pods that start soon after such a fill need not wait for one. In memory only: after a restart nothing is known.
final class FillsAhead {
    /// A pod that starts later is not the one that the fill was for.
    static final Duration LASTS = Duration.ofMinutes(15);

    private final LongSupplier nanos;
    private final Map<Digest, Long> begun = new ConcurrentHashMap<>();
    private final Map<Digest, Fill> done = new ConcurrentHashMap<>();

    private record Fill(Duration took, long end) {}

    /// @param nanos the time, as [System#nanoTime]
    FillsAhead(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /// Records that a fill begins. A repeat counts anew.
    void begins(Digest dataset) {
        begun.put(dataset, nanos.getAsLong());
    }

    /// Runs what waits for the fill, which counts as done if the replica is whole and verified then. Otherwise the next
    /// attempt counts anew.
    ///
    /// @param whole returns whether the replica is whole and verified
    /// @return the same
    boolean until(Digest dataset, BooleanSupplier whole) {
        boolean isWhole = false;
        try {
            isWhole = whole.getAsBoolean();
        } finally {
            ends(dataset, isWhole);
        }
        return isWhole;
    }

    private void ends(Digest dataset, boolean isWhole) {
        Optional.ofNullable(begun.remove(dataset)).filter(_ -> isWhole).ifPresent(begin -> {
            long now = nanos.getAsLong();
            done.values().removeIf(fill -> isOver(fill, now));
            done.put(dataset, new Fill(Duration.ofNanos(now - begin), now));
        });
    }

    /// Returns how long the fill took that a pod which starts now was spared; empty if there was none.
    Optional<Duration> of(Digest dataset) {
        long now = nanos.getAsLong();
        return Optional.ofNullable(done.get(dataset))
                .filter(fill -> !isOver(fill, now))
                .map(Fill::took);
    }

    private static boolean isOver(Fill fill, long now) {
        return now - fill.end() > LASTS.toNanos();
    }
}
