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

/// What a process does again and again on threads of its own, as long as it lives. No exception ends such a task: it is
/// logged and counted by the task's name, and the task goes on.
public final class BackgroundTasks {
    private static final Logger LOG = LoggerFactory.getLogger(BackgroundTasks.class);

    private final Map<String, LongAdder> failures = new ConcurrentHashMap<>();

    /// A task that goes on until it is closed, which does not wait for its step to end.
    @FunctionalInterface
    public interface Task extends AutoCloseable {
        @Override
        void close();
    }

    /// Takes `step` again and again on a thread of its own, which is interrupted when the task is closed.
    ///
    /// @param name of the thread and of what is counted: one of few
    /// @param first how long to wait before the first step
    /// @param pause between the end of a step and the next one
    public Task every(String name, Duration first, Duration pause, Runnable step) {
        return every(name, first, () -> pause, step);
    }

    /// The same, with a pause of its own after each step.
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

    /// An interrupt ends the wait and not the task: whoever closes it says so by the latch.
    private static boolean isClosedWithin(Duration wait, CountDownLatch closed) {
        try {
            return closed.await(wait.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException _) {
            return closed.getCount() == 0;
        }
    }

    /// Makes `step` one that throws nothing: a scheduler never again runs what has thrown.
    public Runnable guarded(String name, Runnable step) {
        return () -> {
            try {
                step.run();
            } catch (RuntimeException | Error unforeseen) {
                failed(name, unforeseen);
            }
        };
    }

    /// Logs and counts what a task did not foresee and has caught itself.
    public void failed(String name, Throwable unforeseen) {
        failures.computeIfAbsent(name, _ -> new LongAdder()).increment();
        LOG.atError().addKeyValue("task", name).setCause(unforeseen).log("a background task failed; it goes on");
    }

    /// How many times each task has failed; without those that never have.
    public Map<String, Long> failures() {
        Map<String, Long> counts = new TreeMap<>();
        failures.forEach((name, count) -> counts.put(name, count.sum()));
        return counts;
    }
}
