package dev.siphon.e2e.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntConsumer;

/// Callers that start at the same moment.
final class Callers {
    private Callers() {}

    /// Runs `body` once per caller, with its number from 0, and waits for all.
    ///
    /// @throws AssertionError if a caller failed
    static void atOnce(int callers, IntConsumer body) {
        CountDownLatch start = new CountDownLatch(1);
        try (ExecutorService threads = Executors.newFixedThreadPool(callers)) {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < callers; i++) {
                int caller = i;
                all.add(threads.submit(() -> {
                    start.await();
                    body.accept(caller);
                    return caller;
                }));
            }
            start.countDown();
            for (Future<?> each : all) {
                each.get();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        } catch (ExecutionException e) {
            throw new AssertionError("a caller broke off", e);
        }
    }
}
