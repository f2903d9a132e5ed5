package dev.siphon.controller.volume;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.volume.Subvolumes.CloneProgress.Stage;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/// Clones of a snapshot, as tests make them, look at them and wait for them.
///
/// @param take has clones that begin from now on take so long at least
public record Clones(Subvolumes subvolumes, SnapshotId snapshot, Consumer<Duration> take) {
    /// Long enough for a few commands, where nothing else is going on.
    public static final Duration TAKES = Duration.ofSeconds(5);

    private static final Duration LIMIT = Duration.ofMinutes(2);

    /// Repeats what Ceph puts off until it has cleaned up behind an earlier operation.
    static void untilDone(Runnable operation) {
        long end = System.nanoTime() + LIMIT.toNanos();
        boolean pending = true;
        while (pending) {
            try {
                operation.run();
                pending = false;
            } catch (DriverException.OperationPending putOff) {
                assertTrue(System.nanoTime() - end < 0, putOff.getMessage());
                LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
            }
        }
    }

    /// The targets of those that have not ended.
    Set<String> pending() {
        return subvolumes
                .findSnapshot(snapshot)
                .map(Subvolumes.Snapshot::pendingClones)
                .orElse(Set.of());
    }

    /// Waits until the mgr has let go of the snapshot too: it never does where the target is removed before.
    public Stage await(VolumeId.Provisioned target) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (true) {
            Stage stage = subvolumes.cloneProgress(target).orElseThrow().stage();
            if (stage != Stage.RUNNING && !pending().contains(target.subvolume())) {
                return stage;
            }
            assertTrue(System.nanoTime() - end < 0, "a clone took longer than " + LIMIT);
            LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
        }
    }

    /// Looks at a clone while it runs. What is seen when it may have ended meanwhile, since the looks took so long,
    /// shows nothing: then another is looked at, which takes longer.
    void look(VolumeId.Provisioned target, Runnable looks) {
        boolean seen = false;
        for (Duration least : List.of(TAKES, TAKES.multipliedBy(4), TAKES.multipliedBy(16))) {
            if (!seen) {
                take.accept(least);
                seen = isSeen(target, least, looks);
                take.accept(TAKES);
            }
        }
        assertTrue(seen, "no clone took long enough to be looked at");
    }

    /// @return whether all was seen as it has to be; not if the clone may have ended before
    private boolean isSeen(VolumeId.Provisioned target, Duration least, Runnable looks) {
        subvolumes.createSnapshot(snapshot);
        long begun = System.nanoTime();
        subvolumes.startClone(snapshot, target);
        try {
            looks.run();
            return true;
        } catch (AssertionError | NoSuchElementException wrong) {
            if (System.nanoTime() - begun < least.toNanos()) {
                throw wrong;
            }
            subvolumes.find(target).ifPresent(_ -> await(target));
            untilDone(() -> subvolumes.remove(target));
            return false;
        }
    }
}
