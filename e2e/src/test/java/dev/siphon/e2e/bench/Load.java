package dev.siphon.e2e.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/// Runs calls from a number of callers. Each starts its next call as soon as the last one returned.
final class Load {
    private Load() {}

    /// One call of a load.
    @FunctionalInterface
    interface Call {
        /// Makes call number `index`.
        ///
        /// @return whether it succeeded
        boolean make(int index);
    }

    /// Makes the calls 0 to `count` - 1.
    static Timings run(int callers, int count, Call call) {
        AtomicInteger next = new AtomicInteger();
        Callable<Part> caller = () -> {
            Part part = new Part(new ArrayList<>(), new AtomicInteger());
            for (int index = next.getAndIncrement(); index < count; index = next.getAndIncrement()) {
                long began = System.nanoTime();
                if (call.make(index)) {
                    part.nanos.add(System.nanoTime() - began);
                } else {
                    part.errors.incrementAndGet();
                }
            }
            return part;
        };
        try (ExecutorService threads = Executors.newFixedThreadPool(callers)) {
            long began = System.nanoTime();
            List<Future<Part>> parts = new ArrayList<>();
            for (int i = 0; i < callers; i++) {
                parts.add(threads.submit(caller));
            }
            List<Long> nanos = new ArrayList<>();
            int errors = 0;
            for (Future<Part> part : parts) {
                nanos.addAll(part.get().nanos);
                errors += part.get().errors.get();
            }
            return new Timings(nanos, errors, Duration.ofNanos(System.nanoTime() - began));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("a caller broke off", e.getCause());
        }
    }

    /// The results of one caller.
    private record Part(List<Long> nanos, AtomicInteger errors) {}
}
