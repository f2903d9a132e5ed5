package dev.siphon.node.replica.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.replica.cache.EvictionOrder.Candidate;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class EvictionOrderTest {
    private static final CacheDirectoryLimits LIMITS = new CacheDirectoryLimits(Path.of("/cache"), 100, 80);

    private static Digest digest(int number) {
        return new Digest(String.format("%064x", number));
    }

    private static Candidate candidate(int number, long bytes, int usedAt) {
        return new Candidate(digest(number), bytes, Instant.ofEpochSecond(usedAt), false, false);
    }

    private static Candidate kept(int number, long bytes) {
        return new Candidate(digest(number), bytes, Instant.EPOCH, true, false);
    }

    private static Candidate attached(int number, long bytes) {
        return new Candidate(digest(number), bytes, Instant.EPOCH, false, true);
    }

    /// On a disk that is far larger than the limit.
    private static Optional<List<Digest>> toFit(List<Candidate> present, long wantedBytes) {
        return EvictionOrder.toFit(LIMITS, present, wantedBytes, Long.MAX_VALUE / 2);
    }

    @Test
    void onADiskSmallerThanTheLimitItsFreeBytesDecide() {
        List<Candidate> present = List.of(candidate(1, 30, 2), candidate(2, 30, 1));
        assertEquals(Optional.of(List.of()), EvictionOrder.toFit(LIMITS, present, 20, 20));
        assertEquals(Optional.of(List.of(digest(2))), EvictionOrder.toFit(LIMITS, present, 20, 19));
        assertEquals(Optional.of(List.of(digest(2), digest(1))), EvictionOrder.toFit(LIMITS, present, 40, 5));
        assertEquals(Optional.empty(), EvictionOrder.toFit(LIMITS, List.of(kept(1, 60)), 20, 19));
    }

    @Test
    void nothingIsEvictedWithinTheLimit() {
        assertEquals(Optional.of(List.of()), toFit(List.of(candidate(1, 40, 1)), 40));
        assertEquals(Optional.of(List.of()), toFit(List.of(candidate(1, 40, 1)), 60));
        assertEquals(Optional.of(List.of(digest(1))), toFit(List.of(candidate(1, 40, 1)), 61));
    }

    @Test
    void whatWasUsedLongestAgoGoesUntilTheWatermarkIsKept() {
        List<Candidate> present = List.of(candidate(1, 30, 3), candidate(2, 30, 1), candidate(3, 30, 2));
        assertEquals(Optional.of(List.of(digest(2))), toFit(present, 20));
        assertEquals(Optional.of(List.of(digest(2), digest(3))), toFit(present, 30));
    }

    @Test
    void whatIsAttachedGoesLastHoweverLongItWasNotUsed() {
        List<Candidate> present = List.of(attached(1, 30), candidate(2, 30, 9), candidate(3, 30, 8));
        assertEquals(Optional.of(List.of(digest(3), digest(2), digest(1))), toFit(present, 80));
    }

    @Test
    void whatIsKeptStaysAndTheLimitHoldsWhereTheWatermarkCannot() {
        assertEquals(Optional.of(List.of(digest(2))), toFit(List.of(kept(1, 60), candidate(2, 20, 1)), 40));
    }

    @Test
    void nothingIsRemovedInVain() {
        assertEquals(Optional.empty(), toFit(List.of(kept(1, 70), candidate(2, 20, 1)), 31));
        assertEquals(Optional.empty(), toFit(List.of(), 101));
    }

    @Test
    void limitsThatHoldNothingAreRefused() {
        Path cache = Path.of("/cache");
        assertThrows(DriverException.InvalidRequest.class, () -> new CacheDirectoryLimits(cache, 0, 80));
        assertThrows(DriverException.InvalidRequest.class, () -> new CacheDirectoryLimits(cache, 1, 0));
        assertThrows(DriverException.InvalidRequest.class, () -> new CacheDirectoryLimits(cache, 1, 101));
        assertThrows(DriverException.InvalidRequest.class, () -> new CacheDirectoryLimits(Path.of("cache"), 1, 80));
    }
}
