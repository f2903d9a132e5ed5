package dev.siphon.node.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.dataset.Digest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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
        ReplicaStatus status = new ReplicaStatus(
                DIGEST, WHOLE, new FillStage.Idle(), 1, 0, Optional.empty(), false, Optional.empty(), Optional.empty());
        return new WarmupProgress(state, 0, () -> Optional.of(status))
                .follow(System.nanoTime() + Duration.ofMinutes(1).toNanos(), now -> told.add(now.state()), gone);
    }

    /// It is whole, but the check that was asked for has not ended.
    @Test
    void aFollowerThatLeavesDoesNotHearThatTheReplicaIsVerified() {
        state.request(true);
        AtomicInteger looks = new AtomicInteger();
        assertFalse(follow(() -> looks.incrementAndGet() > 1));
        assertEquals(List.of(), told);
    }

    @Test
    void aFollowerHearsThatNothingIsWantedAnyMore() {
        assertTrue(follow(() -> false));
        assertEquals(List.of(WHOLE), told);
    }
}
