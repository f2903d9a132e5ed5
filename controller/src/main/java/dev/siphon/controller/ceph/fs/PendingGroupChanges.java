package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.volume.SubvolumeGroup;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/// The changes of groups' directories that the mgr works on now. What is asked for beside them waits behind
/// them, so an answer that one of them got a moment ago does for it too. Each question takes the mgr's own
/// client what it knows of the directory: with one for each of many callers it would be half as slow again.
final class PendingGroupChanges {
    /// For how long an answer does.
    static final Duration LASTS = Duration.ofMillis(100);

    private final LongSupplier nanoTime;
    private final Map<SubvolumeGroup, Changes> ofGroups = new ConcurrentHashMap<>();

    /// @param askedAt when the last of their questions was put
    private record Changes(int running, long askedAt) {}

    /// @param nanoTime a clock as [System#nanoTime]
    PendingGroupChanges(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /// Runs a change of the group's directory, after the question where no answer does for it.
    ///
    /// @param question throws if the change must not be begun
    void run(SubvolumeGroup group, Runnable question, Runnable change) {
        long askedAt = nanoTime.getAsLong();
        Changes others = ofGroups.get(group);
        if (others != null && askedAt - others.askedAt() < LASTS.toNanos()) {
            askedAt = others.askedAt();
        } else {
            question.run();
        }
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
