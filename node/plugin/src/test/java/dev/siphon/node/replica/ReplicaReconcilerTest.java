package dev.siphon.node.replica;

import static dev.siphon.node.replica.ReplicaNode.FAST;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.DatasetReplica.Turn;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.mount.SharedValues;
import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What a step changes while another thread changes what is wanted. `ReplicaDecisionTest` has the decisions.
@Timeout(60)
final class ReplicaReconcilerTest {
    private static final Manifest MANIFEST = new Manifest(5000, 1, List.of(Digest.of(ByteBuffer.allocate(5000))));
    private static final Digest DATASET = MANIFEST.root();

    @TempDir
    private Path folder = Path.of("");

    private final BlockingCalls calls = new BlockingCalls();
    private final ReplicaCounts counts = new ReplicaCounts();
    private final SharedValues<Digest, DatasetState> states =
            new SharedValues<>(digest -> new DatasetState(digest, FAST), _ -> true);
    private final DatasetState state = new DatasetState(DATASET, FAST);

    /// An attached dataset with a verified replica in cache `b`, whose replica is wanted in cache `a`.
    @BeforeEach
    void prepare() throws IOException {
        Path replica = Files.createDirectories(cache("b").resolve(DATASET.hex()));
        Files.createFile(replica.resolve("image"));
        Path manifest = Files.writeString(folder.resolve("image.manifest"), MANIFEST.text());
        state.found(new DatasetImage(DATASET, folder.resolve("image"), manifest));
        state.know(known -> known.withCheck(cache("b"), new ReplicaCheck.Intact(Instant.now(), 0)));
        state.move(cache("a"));
    }

    @AfterEach
    void close() {
        calls.close();
    }

    private Path cache(String name) {
        return folder.resolve(name);
    }

    /// Takes a step that finds room in no cache.
    ///
    /// @param meanwhile runs when the step looks for room
    private void step(Runnable meanwhile) {
        step(meanwhile, new FillTurns(false, System::nanoTime));
    }

    private void step(Runnable meanwhile, FillTurns turns) {
        ReplicaSettings settings = new ReplicaSettings(
                folder.resolve("state"),
                Stream.of("a", "b", "c")
                        .map(name -> new CacheDirectoryLimits(cache(name), 1 << 20, 100))
                        .toList(),
                (_, _, _) -> {
                    meanwhile.run();
                    return Optional.empty();
                },
                FAST,
                GpuProximity.UNKNOWN,
                ErofsSelection.ofThisNode());
        ImageMounts imageMounts = new ImageMounts(new ImageMountDirectories(settings.state()), settings.erofs());
        CacheDirectories directories = new CacheDirectories(settings.caches(), _ -> {}, calls, FAST);
        BackingFileSwitcher switcher =
                new BackingFileSwitcher(imageMounts, directories, new DatasetLocks(calls, FAST.callLimit()), counts);
        ReplicaEvictor evictor = new ReplicaEvictor(switcher, imageMounts, calls, FAST, counts, states);
        directories.prepare();
        var _ = new ReplicaReconciler(directories, switcher, evictor, calls, settings, () -> false, counts, turns)
                .step(state);
        assertEquals(1, counts.failedFills().sum(), "it found no room");
    }

    @Test
    void whereNoRoomIsTheReplicaThatIsThereServes() {
        step(() -> {});
        assertEquals(List.of(cache("b")), state.wanted().preferred());
    }

    @Test
    void aMoveWhileAFillFindsNoRoomStays() {
        step(() -> state.move(cache("c")));
        assertEquals(List.of(cache("c")), state.wanted().preferred());
    }

    /// Without a replica, the cluster counts the fill. It has its turn, and fails.
    @Test
    void aFillThatFailsRunsUntilThenAndUsesUpItsTurn() throws IOException {
        Files.delete(cache("b").resolve(DATASET.hex()).resolve("image"));
        Instant when = Instant.EPOCH.plusSeconds(1);
        FillTurns turns = new FillTurns(true, System::nanoTime);
        turns.told("u1.x", DATASET.beginning(), Optional.of(new Turn(true, 0, 0, when, when)));
        List<FillStage> during = new ArrayList<>();
        assertEquals(new FillStage.Due(), state.fill());
        assertThrows(DriverException.QuotaExhausted.class, () -> step(() -> during.add(state.fill()), turns));
        assertEquals(Set.of(new FillStage.Running()), Set.copyOf(during));
        assertInstanceOf(FillStage.Failed.class, state.fill());
        assertTrue(turns.isLost(DATASET));
        state.want(WantedReplicas::evicted);
        assertEquals(new FillStage.Idle(), state.fill());
    }
}
