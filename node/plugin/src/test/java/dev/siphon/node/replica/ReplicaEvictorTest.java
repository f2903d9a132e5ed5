package dev.siphon.node.replica;

import static dev.siphon.node.replica.ReplicaNode.FAST;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.mount.SharedValues;
import dev.siphon.node.replica.cache.CacheDirectory;
import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import dev.siphon.node.replica.cache.CachedReplica;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What is evicted and what is kept during concurrent work.
@Timeout(60)
final class ReplicaEvictorTest {
    private static final Digest OLD = new Digest("a".repeat(64));
    private static final Digest RECENT = new Digest("b".repeat(64));
    private static final Digest WANTED = new Digest("c".repeat(64));
    private static final int PART_BYTES = 1000;

    @TempDir
    Path place;

    private final BlockingCalls calls = new BlockingCalls();
    private final ReplicaCounts counts = new ReplicaCounts();
    private final SharedValues<Digest, DatasetState> states =
            new SharedValues<>(digest -> new DatasetState(digest, FAST), _ -> true);

    private DatasetState state(Digest digest) {
        return states.use(digest, Function.identity());
    }

    private CacheDirectory directory() {
        return new CacheDirectory(new CacheDirectoryLimits(place.resolve("cache"), PART_BYTES * 5 / 2, 100));
    }

    private ReplicaEvictor room() {
        ImageMounts imageMounts =
                new ImageMounts(new ImageMountDirectories(place.resolve("state")), ErofsSelection.ofThisNode());
        CacheDirectories cacheDirectories =
                new CacheDirectories(List.of(directory().limits()), _ -> {}, calls, FAST);
        BackingFileSwitcher switcher = new BackingFileSwitcher(
                imageMounts, cacheDirectories, new DatasetLocks(calls, FAST.callLimit()), counts);
        return new ReplicaEvictor(switcher, imageMounts, calls, FAST, counts, states);
    }

    @BeforeEach
    void makeParts() throws IOException {
        makePart(OLD, 1);
        makePart(RECENT, 2);
    }

    private void makePart(Digest digest, long lastUse) throws IOException {
        Path folder = Files.createDirectories(directory().path().resolve(digest.hex()));
        Files.write(folder.resolve("image.part"), new byte[PART_BYTES]);
        Path manifest = Files.createFile(folder.resolve("manifest"));
        Files.setLastModifiedTime(manifest, FileTime.from(Instant.ofEpochSecond(lastUse)));
    }

    @AfterEach
    void close() {
        calls.close();
    }

    /// Pins the replica after `evicting` has started and waits for the worker; then the worker finishes.
    private CompletableFuture<Void> pinWhileItWaits(Digest digest, Runnable evicting) {
        DatasetState state = state(digest);
        state.request(true);
        assertTrue(state.tryLock(FAST.callLimit()));
        CompletableFuture<Void> evicted = CompletableFuture.runAsync(evicting);
        ReplicaNode.await(() -> "an eviction that waits", state::isPaused);
        directory().replica(digest).pin(true);
        state.unlock();
        return evicted;
    }

    @Test
    void whatIsPinnedWhileItsEvictionWaitsStays() {
        CachedReplica replica = directory().replica(OLD);
        CompletableFuture<Void> evicted = pinWhileItWaits(OLD, () -> room().evict(state(OLD), () -> List.of(replica)));
        CompletionException refused = assertThrows(CompletionException.class, evicted::join);
        assertInstanceOf(DriverException.InUse.class, refused.getCause());
        assertTrue(replica.isPart());
        assertTrue(state(OLD).wanted().isAny(), "its fill goes on");
        assertFalse(state(OLD).isPaused());

        replica.pin(false);
        room().evict(state(OLD), () -> List.of(replica));
        assertFalse(replica.isPart());
        assertFalse(state(OLD).wanted().isAny());
    }

    @Test
    void roomIsMadeWithoutWhatIsPinnedMeanwhile() {
        CompletableFuture<Void> made =
                pinWhileItWaits(OLD, () -> room().makeRoom(directory(), WANTED, PART_BYTES, () -> {}));
        made.join();
        assertTrue(directory().replica(OLD).isPart());
        assertFalse(directory().replica(RECENT).isPart());
        assertEquals(1, counts.evictions().sum());
    }

    @Test
    void evictionsGoDownToTheWatermark() throws IOException {
        makePart(new Digest("d".repeat(64)), 3);
        makePart(new Digest("e".repeat(64)), 4);
        CacheDirectory full = new CacheDirectory(new CacheDirectoryLimits(place.resolve("cache"), PART_BYTES * 4, 50));
        room().makeRoom(full, WANTED, PART_BYTES / 10, () -> {});
        assertEquals(3, counts.evictions().sum());
        assertEquals(PART_BYTES, full.usedBytes());
    }
}
