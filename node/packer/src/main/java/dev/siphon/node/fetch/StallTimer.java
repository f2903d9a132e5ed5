package dev.siphon.node.fetch;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hc.client5.http.classic.methods.HttpGet;

/// Cancels requests that take too long. A socket's own timeout starts again with each byte, so that a server that
/// sends its header byte by byte would hold a request forever.
final class StallTimer implements AutoCloseable {
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().name("stall-timer").daemon().factory());

    StallTimer() {
        timer.setRemoveOnCancelPolicy(true);
    }

    /// A part of a request.
    interface Step<T> {
        T run() throws IOException;
    }

    /// Runs one step of `request`.
    ///
    /// @throws IOException of the step, or if it took longer than `limit`
    <T> T within(Duration limit, HttpGet request, Step<T> step) throws IOException {
        AtomicBoolean late = new AtomicBoolean();
        Future<?> end = timer.schedule(
                () -> {
                    late.set(true);
                    request.cancel();
                },
                limit.toMillis(),
                TimeUnit.MILLISECONDS);
        try {
            return step.run();
        } catch (IOException e) {
            if (late.get()) {
                throw (IOException) new InterruptedIOException("no answer came for " + limit.toMillis() / 1000.0 + " s")
                        .initCause(e);
            }
            throw e;
        } finally {
            end.cancel(false);
        }
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
