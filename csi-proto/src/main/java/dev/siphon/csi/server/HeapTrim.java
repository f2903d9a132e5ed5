package dev.siphon.csi.server;

import dev.siphon.csi.BackgroundTasks;
import java.time.Duration;
import java.util.function.LongSupplier;

/// Gives memory of the heap back that only garbage holds. The serial collector lets garbage fill the heap to its limit
/// before it collects the older part: 144 MiB where 25 live. So the older part is collected whenever the heap has grown
/// by a little since the last time, which takes a tenth of a second.
final class HeapTrim {
    static final long GROWTH_BYTES = 8L << 20;

    private static final Duration PERIOD = Duration.ofSeconds(2);

    private final LongSupplier heapBytes;
    private final Runnable collector;
    private long settled;

    /// @param heapBytes what the heap takes of the process's memory
    HeapTrim(LongSupplier heapBytes, Runnable collector) {
        this.heapBytes = heapBytes;
        this.collector = collector;
        this.settled = heapBytes.getAsLong();
    }

    /// Does so until it is closed.
    static BackgroundTasks.Task start() {
        HeapTrim trim = new HeapTrim(Runtime.getRuntime()::totalMemory, System::gc);
        return new BackgroundTasks().every("heap-trim", PERIOD, PERIOD, trim::step);
    }

    /// Collects if the heap has grown.
    void step() {
        if (heapBytes.getAsLong() >= settled + GROWTH_BYTES) {
            collector.run();
            settled = heapBytes.getAsLong();
        }
    }
}
