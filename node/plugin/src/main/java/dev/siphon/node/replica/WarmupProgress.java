package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// Follows a dataset's fill until its replica is whole. The dataset's own thread fills it, so the follower may
/// leave at any time.
final class WarmupProgress {
    private static final Duration PERIOD = Duration.ofMillis(200);

    /// How soon progress is told that changes no percent.
    private static final Duration SLOW = Duration.ofSeconds(30);

    private final DatasetState state;
    private final long failuresBefore;
    private final Supplier<Optional<ReplicaStatus>> look;

    /// @param failuresBefore the dataset's failed steps before the request
    /// @param look reads the status from the disks
    WarmupProgress(DatasetState state, long failuresBefore, Supplier<Optional<ReplicaStatus>> look) {
        this.state = state;
        this.failuresBefore = failuresBefore;
        this.look = look;
    }

    private record Told(ReplicaStatus status, long when) {}

    private static boolean isNews(Optional<Told> told, ReplicaStatus now) {
        return told.filter(last -> last.status().state().equals(now.state())
                        && last.status().fill().equals(now.fill())
                        && (last.status().progressBytes() == now.progressBytes()
                                || System.nanoTime() - last.when() < SLOW.toNanos()))
                .isEmpty();
    }

    /// @param end the deadline, by [System#nanoTime]; empty for none
    /// @param gone whether the follower leaves
    /// @return whether the replica is whole and verified; false if the follower left before
    boolean follow(OptionalLong end, Consumer<ReplicaStatus> progress, BooleanSupplier gone) {
        Optional<Told> told = Optional.empty();
        while (!gone.getAsBoolean()) {
            boolean wanted =
                    state.wanted().isAny(); // read first, because a replica is no longer wanted once it is whole
            Optional<ReplicaStatus> now = look.get();
            boolean whole = now.map(ReplicaStatus::state)
                    .filter(ReplicaState.Local.class::isInstance)
                    .isPresent();
            boolean done = whole && (!wanted || !state.known().servedFrom().isEmpty());
            // a whole replica counts only once it is verified
            if (now.isPresent() && (done || (!whole && isNews(told, now.get())))) {
                progress.accept(now.get());
                told = Optional.of(new Told(now.get(), System.nanoTime()));
            }
            if (done) {
                return true;
            }
            state.known().failures().after(failuresBefore).ifPresent(failure -> {
                throw failure;
            });
            if (!whole && state.known().image().isEmpty()) {
                throw new DriverException.InUse("the replica of dataset " + state.digest() + " is gone: "
                        + state.known().failures().problem().orElse("it was removed")
                        + "; the node does not know where its image is: start a pod that uses the dataset here");
            }
            if (!wanted) {
                throw new DriverException.OperationPending(
                        "dataset " + state.digest() + " was evicted while it was warmed; warm it again");
            }
            if (end.isPresent() && System.nanoTime() - end.getAsLong() > 0) {
                throw new DriverException.DeadlinePassed("dataset " + state.digest()
                        + " is not complete on a disk yet; the fill continues, see `siphon cache list`");
            }
            LockSupport.parkNanos(PERIOD.toNanos());
        }
        return false;
    }
}
