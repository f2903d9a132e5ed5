package dev.siphon.node.chunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Manifest;
import java.time.Duration;
import java.util.BitSet;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.Test;

class ChunkWorkersTest {
    private static final Bandwidth UNLIMITED = new Bandwidth(OptionalLong.empty());
    private static final Duration LONG = Duration.ofSeconds(20);

    private final Set<Integer> worked = ConcurrentHashMap.newKeySet();
    private final AtomicInteger open = new AtomicInteger();

    private static BitSet chunks(int count) {
        BitSet chunks = new BitSet();
        chunks.set(0, count);
        return chunks;
    }

    private ChunkWorkers.Lane lane(IntConsumer work) {
        open.incrementAndGet();
        return new ChunkWorkers.Lane() {
            @Override
            public void work(int chunk) {
                work.accept(chunk);
            }

            @Override
            public void close() {
                open.decrementAndGet();
            }
        };
    }

    @Test
    void eachChunkIsWorkedOnOnceAndAllIsClosed() {
        ChunkWorkers workers = new ChunkWorkers("test", 4, LONG);
        assertTrue(
                workers.run(chunks(100), UNLIMITED, () -> false, () -> lane(chunk -> assertTrue(worked.add(chunk)))));
        assertEquals(100, worked.size());
        assertEquals(100, workers.processed());
        assertEquals(0, open.get());
        assertTrue(workers.run(chunks(0), UNLIMITED, () -> false, () -> lane(worked::add)));
    }

    @Test
    void aFailureReachesTheCaller() {
        ChunkWorkers workers = new ChunkWorkers("test", 4, LONG);
        assertThrows(
                DriverException.BackendFault.class,
                () -> workers.run(
                        chunks(100),
                        UNLIMITED,
                        () -> false,
                        () -> lane(chunk -> {
                            throw new DriverException.BackendFault("chunk " + chunk);
                        })));
        assertEquals(0, open.get());
    }

    @Test
    void whoeverIsStoppedSaysSo() {
        ChunkWorkers workers = new ChunkWorkers("test", 2, LONG);
        assertFalse(workers.run(chunks(100), UNLIMITED, () -> worked.size() >= 10, () -> lane(worked::add)));
        assertTrue(worked.size() < 100);
    }

    @Test
    void whatHangsIsLeftAndKeepsFurtherRunsAwayUntilItEnds() throws InterruptedException {
        ChunkWorkers workers = new ChunkWorkers("test", 2, Duration.ofMillis(50));
        CountDownLatch stuck = new CountDownLatch(1);
        assertThrows(
                DriverException.DeadlinePassed.class,
                () -> workers.run(chunks(5), UNLIMITED, () -> false, () -> lane(_ -> await(stuck))));
        assertEquals(2, open.get());
        assertThrows(
                DriverException.BackendUnavailable.class,
                () -> workers.run(chunks(5), UNLIMITED, () -> false, () -> lane(worked::add)));
        stuck.countDown();
        while (workers.underWay() > 0) {
            Thread.onSpinWait();
        }
        assertEquals(0, open.get());
        assertTrue(workers.run(chunks(5), UNLIMITED, () -> false, () -> lane(worked::add)));
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(20, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void waitingForATurnIsNoHanging() {
        ChunkWorkers workers = new ChunkWorkers("test", 4, Duration.ofMillis(100));
        Bandwidth slow = new Bandwidth(OptionalLong.of(Manifest.CHUNK_BYTES * 8L));
        assertTrue(workers.run(chunks(4), slow, () -> false, () -> lane(worked::add)));
        assertEquals(4, worked.size());
    }

    @Test
    void bytesTakeTheirTime() {
        Bandwidth limited = new Bandwidth(OptionalLong.of(1000));
        assertEquals(0, limited.reserve(500, 0));
        assertEquals(500_000_000, limited.reserve(1000, 0));
        assertEquals(1_400_000_000, limited.reserve(10, 100_000_000));
        // unused time does not accumulate
        assertEquals(0, limited.reserve(1000, 10_000_000_000L));
        assertEquals(0, new Bandwidth(OptionalLong.empty()).reserve(1 << 30, 5));
    }
}
