package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.volume.SubvolumeGroup;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/// Tracks the changes of groups' directories that the mgr is running. A further change waits behind them, so it
/// can reuse the reply to a probe that one of them just sent. Each probe takes away what the mgr's own client
/// knows of the directory. One probe for each of many callers would cost the mgr half as much time again.
final class PendingGroupChanges {
    /// How long a reply can be reused.
    static final Duration LASTS = Duration.ofMillis(100);

    private final LongSupplier nanoTime;
    private final Map<SubvolumeGroup, Changes> ofGroups = new ConcurrentHashMap<>();

    /// @param askedAt when the latest of their probes was sent
    private record Changes(int running, long askedAt) {}

    /// @param nanoTime a clock like [System#nanoTime]
    PendingGroupChanges(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /// Returns when the latest probe of a running change was sent, if its reply can be reused; else empty.
    OptionalLong askedLately(SubvolumeGroup group) {
        Changes others = ofGroups.get(group);
        return others != null && isLately(others.askedAt()) ? OptionalLong.of(others.askedAt()) : OptionalLong.empty();
    }

    /// Returns whether a reply to a probe that was sent then can still be used.
    boolean isLately(long askedAt) {
        return nanoTime.getAsLong() - askedAt < LASTS.toNanos();
    }

    /// Runs a change of the group's directory.
    ///
    /// @param askedAt when the probe was sent whose reply allows it
    void run(SubvolumeGroup group, long askedAt, Runnable change) {
        ofGroups.merge(group, new Changes(1, askedAt), PendingGroupChanges::both);
        try {
            change.run();
        } finally {
            ofGroups.computeIfPresent(
                    group, (_, all) -> all.running() == 1 ? null : new Changes(all.running() - 1, all.askedAt()));
        }
    }

    private static Changes both(Changes one, Changes other) {
        long later = one.askedAt() - other.askedAt() > 0 ? one.askedAt() : other.askedAt();
        return new Changes(one.running() + other.running(), later);
    }
}
