package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class HeapTrimTest {
    private final AtomicLong heap = new AtomicLong(40L << 20);
    private final List<Long> collected = new ArrayList<>();

    @Test
    void aHeapThatGrewIsCollectedAndWhatLivesIsTheNewMeasure() {
        HeapTrim trim = new HeapTrim(heap::get, () -> {
            collected.add(heap.get());
            heap.addAndGet(-(10L << 20));
        });
        heap.addAndGet(HeapTrim.GROWTH_BYTES - 1);
        trim.step();
        assertEquals(List.of(), collected);

        long grown = heap.addAndGet(1);
        trim.step();
        trim.step();
        assertEquals(List.of(grown), collected);

        long again = heap.addAndGet(HeapTrim.GROWTH_BYTES);
        trim.step();
        assertEquals(List.of(grown, again), collected);
    }
}
