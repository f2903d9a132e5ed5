package dev.siphon.node.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/// What the follower of a fill hears.
final class WarmupProgressTest {
    private static final Digest DIGEST = new Digest("a".repeat(64));
    private static final ReplicaState WHOLE = new ReplicaState.Local(Path.of("/a"));

    private final DatasetState state = new DatasetState(DIGEST, ReplicaPolicy.usual());
    private final List<ReplicaState> told = new ArrayList<>();

    private boolean follow(BooleanSupplier gone) {
        OptionalLong end =
                OptionalLong.of(System.nanoTime() + Duration.ofMinutes(1).toNanos());
        return follow(WHOLE, new FillStage.Idle(), end, gone);
    }

    private boolean follow(ReplicaState reached, FillStage stage, OptionalLong end, BooleanSupplier gone) {
        ReplicaStatus status = new ReplicaStatus(
                DIGEST, reached, stage, 1, 0, Optional.empty(), false, Optional.empty(), Optional.empty());
        return new WarmupProgress(state, 0, () -> Optional.of(status)).follow(end, now -> told.add(now.state()), gone);
    }

    /// It is whole, but the check that was asked for has not ended.
    @Test
    void aFollowerThatLeavesDoesNotHearThatTheReplicaIsVerified() {
        state.request(true);
        AtomicInteger looks = new AtomicInteger();
        assertFalse(follow(() -> looks.incrementAndGet() > 1));
        assertEquals(List.of(), told);
    }

    /// An order has no deadline: the fill may wait for its turn for days, and a passed deadline would end its wait.
    @Test
    void onlyAFollowerWithADeadlineLeavesAFillThatWaitsForItsTurn() {
        state.found(new DatasetImage(DIGEST, Path.of("/image"), Path.of("/manifest")));
        state.request(true);
        ReplicaState queued = new ReplicaState.Queued(0, 3);
        FillStage stage = new FillStage.Queued(3);
        OptionalLong passed = OptionalLong.of(System.nanoTime() - 1);
        assertThrows(DriverException.DeadlinePassed.class, () -> follow(queued, stage, passed, () -> false));
        AtomicInteger looks = new AtomicInteger();
        assertFalse(follow(queued, stage, OptionalLong.empty(), () -> looks.incrementAndGet() > 2));
        assertEquals(List.of(queued, queued), told);
    }

    @Test
    void aFollowerHearsThatNothingIsWantedAnyMore() {
        assertTrue(follow(() -> false));
        assertEquals(List.of(WHOLE), told);
    }
}
