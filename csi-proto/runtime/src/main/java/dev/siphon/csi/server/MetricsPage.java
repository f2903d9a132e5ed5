package dev.siphon.csi.server;

import com.google.protobuf.ByteString;
import dev.siphon.csi.DriverException;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/// Serves the metrics in Prometheus's format. Concurrent requests share one text, and a new one is built at most
/// every 250 ms: anyone may ask, and each text costs time and memory. The text is never older than the request,
/// unless too many wait; the excess gets the last text at once.
public final class MetricsPage {
    private static final String CONTENT_TYPE = PrometheusTextFormatWriter.CONTENT_TYPE;
    private static final Duration SPACING = Duration.ofMillis(250);

    /// Time limit for the text that is being built; a metric may hang with its disk.
    private static final Duration WAIT = Duration.ofSeconds(5);

    private static final int MAX_WAITING = 16;

    private final PrometheusRegistry registry;
    private final Semaphore waiting = new Semaphore(MAX_WAITING);
    private final ReentrantLock making = new ReentrantLock();
    private volatile Optional<Made> last = Optional.empty();

    private record Made(long beganNanos, ByteString text) {}

    public MetricsPage(PrometheusRegistry registry) {
        this.registry = registry;
    }

    /// Returns the reply with all metrics.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if they cannot be collected in time
    public HttpCall.Reply reply() {
        long asked = System.nanoTime();
        if (!waiting.tryAcquire()) {
            return reply(last.orElseThrow(() -> silent()));
        }
        try {
            if (!making.tryLock(WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
                throw silent();
            }
            try {
                return reply(madeSince(asked));
            } finally {
                making.unlock();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("interrupted", e);
        } finally {
            waiting.release();
        }
    }

    private static HttpCall.Reply reply(Made made) {
        return new HttpCall.Reply(200, CONTENT_TYPE, made.text());
    }

    private static DriverException silent() {
        return new DriverException.BackendUnavailable("the metrics have not been collected yet; ask again");
    }

    private Made madeSince(long asked) {
        Optional<Made> shared = last.filter(made -> made.beganNanos() - asked >= 0);
        if (shared.isPresent()) {
            return shared.get();
        }
        last.ifPresent(made -> awaitNanoTime(made.beganNanos() + SPACING.toNanos()));
        Made made = new Made(System.nanoTime(), text(registry));
        last = Optional.of(made);
        return made;
    }

    private static void awaitNanoTime(long end) {
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /// Returns all metrics as text.
    static ByteString text(PrometheusRegistry registry) {
        ByteString.Output out = ByteString.newOutput();
        try {
            PrometheusTextFormatWriter.create().write(out, registry.scrape());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteString();
    }
}
