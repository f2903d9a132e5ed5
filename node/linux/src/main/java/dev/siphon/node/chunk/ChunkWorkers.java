package dev.siphon.node.chunk;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Manifest;
import java.time.Duration;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Processes the chunks of one dataset on several platform threads.
///
/// A read that hangs in the kernel cannot be interrupted. So the caller waits for progress, not for the threads: it
/// leaves when no thread has progressed for `patience`. The threads close their files once the kernel returns.
/// Until then, further runs for the dataset are rejected.
public final class ChunkWorkers {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final String name;
    private final int count;
    private final Duration patience;
    private final AtomicInteger underWay = new AtomicInteger();

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
    }

    /// Processes each of `chunks` once.
    ///
    /// @return whether all were processed; false if `stopped` was true first
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if no thread makes progress
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if threads of an earlier run still hang
    public boolean run(BitSet chunks, Bandwidth bandwidth, BooleanSupplier stopped, Supplier<Lane> opener) {
        if (underWay.get() > 0) {
            throw new DriverException.BackendUnavailable(
                    "earlier reads and writes for " + name + " have not returned; retried when they have");
        }
        int lanes = Math.min(count, chunks.cardinality());
        Run run = new Run(chunks, bandwidth, stopped, opener, lanes);
        for (int i = 0; i < lanes; i++) {
            underWay.incrementAndGet();
            Thread.ofPlatform().daemon().name("dataset-", i).start(run::lane);
        }
        return run.await();
    }

    /// Returns the number of threads that have not ended, for tests.
    int underWay() {
        return underWay.get();
    }

    private final class Run {
        private final BitSet left;
        private final Bandwidth bandwidth;
        private final BooleanSupplier stopped;
        private final Supplier<Lane> opener;
        private int running;
        private int doing;
        private long progress = System.nanoTime();
        private boolean given;
        private @Nullable Throwable failure;

        Run(BitSet chunks, Bandwidth bandwidth, BooleanSupplier stopped, Supplier<Lane> opener, int lanes) {
            this.left = (BitSet) chunks.clone();
            this.bandwidth = bandwidth;
            this.stopped = stopped;
            this.opener = opener;
            this.running = lanes;
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
                fail(e);
            } finally {
                underWay.decrementAndGet();
                end();
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
            moved();
        }

        private synchronized void fail(Throwable e) {
            given = true;
            if (failure == null) {
                failure = e;
            }
        }

        private synchronized void end() {
            running--;
            notifyAll();
        }

        synchronized boolean await() {
            while (running > 0) {
                long left = patience.toNanos() - (System.nanoTime() - progress);
                if (left <= 0) {
                    given = true;
                    rethrow();
                    throw new DriverException.DeadlinePassed("nothing was read or written for " + name + " within "
                            + patience.toMillis() + " ms; its hung threads are abandoned");
                }
                try {
                    TimeUnit.NANOSECONDS.timedWait(this, left);
                } catch (InterruptedException _) {
                    given = true;
                    Thread.currentThread().interrupt();
                    throw new DriverException.DeadlinePassed("interrupted while working on " + name);
                }
            }
            rethrow();
            return left.isEmpty() && doing == 0;
        }

        private void rethrow() {
            if (failure instanceof RuntimeException e) {
                throw e;
            }
            if (failure instanceof Error e) {
                throw e;
            }
        }
    }
}
