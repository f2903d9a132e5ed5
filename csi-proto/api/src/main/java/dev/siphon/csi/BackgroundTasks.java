package dev.siphon.csi;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Runs periodic tasks, each on its own thread, for the life of the process. An exception does not end a task: it
/// is logged, counted under the task's name, and the task continues.
public final class BackgroundTasks {
    private static final Logger LOG = LoggerFactory.getLogger(BackgroundTasks.class);

    private final Map<String, LongAdder> failures = new ConcurrentHashMap<>();

    /// A task that runs until it is closed. Closing does not wait for a running step.
    @FunctionalInterface
    public interface Task extends AutoCloseable {
        @Override
        void close();
    }

    /// Runs `step` repeatedly on its own thread, which is interrupted when the task is closed.
    ///
    /// @param name the name of the thread and of the failure count; one of a few fixed names
    /// @param first delay before the first step
    /// @param pause delay from the end of a step to the start of the next
    public Task every(String name, Duration first, Duration pause, Runnable step) {
        return every(name, first, () -> pause, step);
    }

    /// As above, but gets a new pause after each step.
    public Task every(String name, Duration first, Supplier<Duration> pause, Runnable step) {
        CountDownLatch closed = new CountDownLatch(1);
        Runnable guarded = guarded(name, step);
        Thread thread = Thread.ofPlatform().daemon().name(name).start(() -> {
            for (Duration wait = first; !isClosedWithin(wait, closed); wait = pause.get()) {
                guarded.run();
            }
        });
        return () -> {
            closed.countDown();
            thread.interrupt();
        };
    }

    /// Waits for the task to be closed. Only the latch ends the task; an interrupt just ends the wait.
    private static boolean isClosedWithin(Duration wait, CountDownLatch closed) {
        try {
            return closed.await(wait.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException _) {
            return closed.getCount() == 0;
        }
    }

    /// Returns a `step` that never throws: a scheduler stops a task that has thrown.
    public Runnable guarded(String name, Runnable step) {
        return () -> {
            try {
                step.run();
            } catch (RuntimeException | Error unforeseen) {
                failed(name, unforeseen);
            }
        };
    }

    /// Logs and counts an unexpected error that a task caught itself.
    public void failed(String name, Throwable unforeseen) {
        failures.computeIfAbsent(name, _ -> new LongAdder()).increment();
        LOG.atError().addKeyValue("task", name).setCause(unforeseen).log("a background task failed; it keeps running");
    }

    /// Returns the number of failures per task, without tasks that never failed.
    public Map<String, Long> failures() {
        Map<String, Long> counts = new TreeMap<>();
        failures.forEach((name, count) -> counts.put(name, count.sum()));
        return counts;
    }
}
