package dev.siphon.csi.server;

import dev.siphon.csi.BackgroundTasks;
import java.time.Duration;
import java.util.function.LongSupplier;

/// Returns heap memory that holds only garbage. The serial collector fills the heap to its limit before it collects
/// the old generation: 144 MiB where 25 MiB are live. This class collects it whenever the heap has grown by 8 MiB,
/// which takes a tenth of a second.
final class HeapTrim {
    static final long GROWTH_BYTES = 8L << 20;

    private static final Duration PERIOD = Duration.ofSeconds(2);

    private final LongSupplier heapBytes;
    private final Runnable collector;
    private long settled;

    /// @param heapBytes the size of the heap in the process's memory
    HeapTrim(LongSupplier heapBytes, Runnable collector) {
        this.heapBytes = heapBytes;
        this.collector = collector;
        this.settled = heapBytes.getAsLong();
    }

    /// Checks every 2 s until the task is closed.
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
