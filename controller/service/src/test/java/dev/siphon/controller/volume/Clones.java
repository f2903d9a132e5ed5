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

/// Starts, checks and awaits clones of a snapshot.
///
/// @param take sets the minimum duration of clones started from now on
public record Clones(Subvolumes subvolumes, SnapshotId snapshot, Consumer<Duration> take) {
    /// Long enough for a few commands on an idle machine.
    public static final Duration TAKES = Duration.ofSeconds(5);

    private static final Duration LIMIT = Duration.ofMinutes(2);

    /// Retries an operation until Ceph has cleaned up after an earlier one.
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

    /// Returns the targets of unfinished clones.
    Set<String> pending() {
        return subvolumes
                .findSnapshot(snapshot)
                .map(Subvolumes.Snapshot::pendingClones)
                .orElse(Set.of());
    }

    /// Waits until the clone has ended and the mgr has released the snapshot. The mgr never releases it if the
    /// target is removed earlier.
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

    /// Checks a clone while it runs. If the checks take so long that the clone may have ended, a failure proves
    /// nothing. Then they are repeated with a longer clone.
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

    /// @return whether all checks passed; false if the clone may have ended before
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
