package dev.siphon.node.chunk;

import dev.siphon.csi.DeadlineExecutor;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Manifest;
import java.time.Duration;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// Processes the chunks of one dataset on several platform threads.
///
/// A read that hangs in the kernel cannot be interrupted. So the caller waits for progress, not for the threads: it
/// leaves when no thread has progressed for `patience` ([DeadlineExecutor]). The threads close their files
/// once the kernel returns. Until then, further runs for the dataset are rejected.
public final class ChunkWorkers {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final String name;
    private final int count;
    private final Duration patience;
    private final DeadlineExecutor threads;
    private final LongAdder processed = new LongAdder();

    /// One thread's files and buffers, opened, used and closed on that thread.
    public interface Lane extends AutoCloseable {
        void work(int chunk);

        @Override
        void close();
    }

    /// @param name the dataset, for messages
    /// @param count the number of chunks processed at once
    /// @param patience how long to wait for the next chunk
    public ChunkWorkers(String name, int count, Duration patience) {
        this.name = name;
        this.count = count;
        this.patience = patience;
        this.threads = new DeadlineExecutor(
                Thread.ofPlatform().daemon().name("dataset-", 0).factory(), count, count);
    }

    /// Processes each of `chunks` once.
    ///
    /// @return whether all were processed; false if `stopped` was true first
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if no thread makes progress
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if threads of an earlier run still hang
    public boolean run(BitSet chunks, Bandwidth bandwidth, BooleanSupplier stopped, Supplier<Lane> opener) {
        if (threads.underWay() > 0) {
            throw new DriverException.BackendUnavailable(
                    "earlier reads and writes for " + name + " have not returned; retried when they have");
        }
        Run run = new Run(chunks, bandwidth, stopped, opener, processed);
        int lanes = Math.min(count, chunks.cardinality());
        try {
            threads.runOnEach(lanes, "reads and writes for " + name, patience, run::progress, run::lane);
        } finally {
            run.giveUp(); // the caller may leave before its threads
        }
        return run.isDone();
    }

    /// Returns how many chunks were processed in all runs so far, these included that have not ended.
    public long processed() {
        return processed.sum();
    }

    /// Returns the number of threads that have not ended, for tests.
    int underWay() {
        return threads.underWay();
    }

    private static final class Run {
        private final BitSet left;
        private final Bandwidth bandwidth;
        private final BooleanSupplier stopped;
        private final Supplier<Lane> opener;
        private final LongAdder processed;
        private int doing;
        private long progress = System.nanoTime();
        private boolean given;

        Run(BitSet chunks, Bandwidth bandwidth, BooleanSupplier stopped, Supplier<Lane> opener, LongAdder processed) {
            this.processed = processed;
            this.left = (BitSet) chunks.clone();
            this.bandwidth = bandwidth;
            this.stopped = stopped;
            this.opener = opener;
        }

        void lane() {
            try (Lane lane = opener.get()) {
                for (int chunk = next(); chunk >= 0; chunk = next()) {
                    if (waitForTurn()) {
                        lane.work(chunk);
                        done();
                    }
                }
            } catch (RuntimeException | Error e) {
                giveUp();
                throw e;
            }
        }

        private synchronized int next() {
            if (given || stopped.getAsBoolean()) {
                return -1;
            }
            int chunk = left.nextSetBit(0);
            if (chunk >= 0) {
                left.clear(chunk);
                doing++;
            }
            return chunk;
        }

        private boolean waitForTurn() {
            long until = System.nanoTime() + bandwidth.reserve(Manifest.CHUNK_BYTES, System.nanoTime());
            for (long wait = until - System.nanoTime(); wait > 0; wait = until - System.nanoTime()) {
                if (abandoned() || stopped.getAsBoolean()) {
                    return false;
                }
                LockSupport.parkNanos(Math.min(wait, PAUSE_NANOS));
                moved(); // waiting for bandwidth counts as progress
            }
            return true;
        }

        private synchronized boolean abandoned() {
            return given;
        }

        private synchronized void moved() {
            progress = System.nanoTime();
        }

        private synchronized void done() {
            doing--;
            processed.increment();
            moved();
        }

        /// Makes all threads end after their current chunk.
        synchronized void giveUp() {
            given = true;
        }

        synchronized long progress() {
            return progress;
        }

        synchronized boolean isDone() {
            return left.isEmpty() && doing == 0;
        }
    }
}
