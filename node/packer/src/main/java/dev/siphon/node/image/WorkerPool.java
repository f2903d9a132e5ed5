package dev.siphon.node.image;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;

/// Runs one job on several threads. They are platform threads, because system calls would pin the carriers of
/// virtual ones. Their number bounds memory, descriptors and the load on the source.
///
/// It needs no [dev.siphon.csi.DeadlineExecutor]: no deadline ends a job, whose threads end before its files.
public final class WorkerPool {
    private WorkerPool() {}

    /// The job of each thread, and how to stop it if another thread fails.
    public interface Work {
        void untilDone();

        /// Makes [#untilDone] return soon in all threads.
        void giveUp();
    }

    /// Runs `work` on `size` threads and returns when all have ended.
    ///
    /// @param name the prefix of the threads' names
    /// @throws RuntimeException the first failure, as it was thrown
    public static void run(String name, int size, Work work) {
        ThreadFactory threads = Thread.ofPlatform().name(name + "-", 0).daemon().factory();
        try (ExecutorService pool = Executors.newFixedThreadPool(size, threads)) {
            List<Future<Boolean>> ends = new ArrayList<>();
            for (Callable<Boolean> each : Collections.nCopies(size, (Callable<Boolean>) () -> attempt(work))) {
                ends.add(pool.submit(each));
            }
            for (Future<Boolean> end : ends) {
                await(end, work);
            }
        }
    }

    private static boolean attempt(Work work) {
        boolean done = false;
        try {
            work.untilDone();
            done = true;
        } finally {
            if (!done) {
                work.giveUp();
            }
        }
        return done;
    }

    private static void await(Future<Boolean> end, Work work) {
        try {
            end.get();
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case RuntimeException cause -> throw cause;
                case Error cause -> throw cause;
                case null, default -> throw new IllegalStateException(e);
            }
        } catch (InterruptedException e) {
            work.giveUp();
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }
}
