package dev.siphon.node.replica;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.mount.SharedValues;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Runs one platform thread per dataset with pending work, so that a hanging file system blocks only its own
/// dataset. A failed step is retried with growing delays. Nobody waits for a step, so it has no deadline.
final class DatasetThreads {
    private static final Logger LOG = LoggerFactory.getLogger(DatasetThreads.class);
    private static final int MAX_DOUBLINGS = 20;

    private final ReplicaPolicy policy;
    private final Function<DatasetState, Optional<Duration>> step;
    private final SharedValues<Digest, DatasetState> states;
    private final Map<Digest, Worker> workers = new ConcurrentHashMap<>();
    private final BackgroundTasks tasks;
    private volatile boolean closed;

    /// @param step takes one step for a dataset and returns the delay until the next, as [ReplicaReconciler#step]
    DatasetThreads(
            ReplicaPolicy policy,
            SharedValues<Digest, DatasetState> states,
            Function<DatasetState, Optional<Duration>> step,
            BackgroundTasks tasks) {
        this.states = states;
        this.tasks = tasks;
        this.policy = policy;
        this.step = step;
    }

    boolean isClosed() {
        return closed;
    }

    /// Returns the datasets that have a thread.
    Set<Digest> datasets() {
        return Set.copyOf(workers.keySet());
    }

    /// Wakes the thread of a dataset, or starts one, to take the next step now.
    void wake(Digest dataset) {
        if (!closed) {
            var _ = workers.compute(dataset, (_, now) -> {
                Worker worker = now == null ? new Worker(dataset) : now;
                worker.wake();
                return worker;
            });
        }
    }

    /// Ends all threads. A thread that hangs in the kernel is abandoned after `limit`, and ends with the process.
    void close(Duration limit) {
        closed = true;
        long end = System.nanoTime() + limit.toNanos();
        workers.values().forEach(Worker::interrupt);
        workers.values().forEach(worker -> worker.join(end - System.nanoTime()));
    }

    private final class Worker implements Runnable {
        private final Digest dataset;
        private Optional<Thread> thread = Optional.empty();
        private boolean woken;
        private int failures;

        Worker(Digest dataset) {
            this.dataset = dataset;
        }

        synchronized void wake() {
            woken = true;
            notifyAll();
            if (thread.isEmpty()) {
                Thread fresh = Thread.ofPlatform()
                        .daemon()
                        .name("tend-" + dataset.hex().substring(0, 8))
                        .unstarted(this);
                thread = Optional.of(fresh);
                fresh.start();
            }
        }

        synchronized void interrupt() {
            thread.ifPresent(Thread::interrupt);
        }

        synchronized void join(long nanos) {
            long end = System.nanoTime() + nanos;
            try {
                for (long left = nanos; thread.isPresent() && left > 0; left = end - System.nanoTime()) {
                    TimeUnit.NANOSECONDS.timedWait(this, left);
                }
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void run() {
            try {
                states.with(dataset, state -> {
                    while (awaitTurn(next(state))) {
                        // and again
                    }
                });
            } finally {
                end();
                var _ = workers.computeIfPresent(dataset, (_, now) -> now == this && isOver() ? null : now);
            }
        }

        private Optional<Duration> next(DatasetState state) {
            synchronized (this) {
                woken = false;
            }
            try {
                Optional<Duration> wait = step.apply(state);
                failures = 0;
                return wait;
            } catch (DriverException | ErrnoException | UncheckedIOException e) {
                Duration wait = delay(failures++);
                state.failed(e);
                if (!closed) {
                    LOG.atWarn()
                            .addKeyValue("dataset", state.digest())
                            .addKeyValue("retry_ms", wait.toMillis())
                            .log("a dataset's replica: {}", e.getMessage());
                }
                return Optional.of(wait);
            } catch (RuntimeException | Error unforeseen) {
                tasks.failed("datasets", unforeseen);
                state.failed(
                        new DriverException.BackendFault("dataset " + state.digest() + ": " + unforeseen, unforeseen));
                return Optional.of(delay(failures++));
            }
        }

        private Duration delay(int failed) {
            Duration doubled = policy.firstRetry().multipliedBy(1L << Math.min(failed, MAX_DOUBLINGS));
            return doubled.compareTo(policy.longestRetry()) < 0 ? doubled : policy.longestRetry();
        }

        /// Waits, and returns whether to take another step. A wake-up ends the wait and requests one.
        private synchronized boolean awaitTurn(Optional<Duration> wait) {
            long end = System.nanoTime() + wait.orElse(Duration.ZERO).toNanos();
            try {
                for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
                    if (woken || closed) {
                        break;
                    }
                    TimeUnit.NANOSECONDS.timedWait(this, left);
                }
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
            if (closed || (wait.isEmpty() && !woken)) {
                thread = Optional.empty(); // set under the lock, so that a later wake starts a new thread
                return false;
            }
            return true;
        }

        private synchronized boolean isOver() {
            return thread.isEmpty();
        }

        private synchronized void end() {
            thread.filter(Thread.currentThread()::equals).ifPresent(_ -> thread = Optional.empty());
            notifyAll();
        }
    }
}
