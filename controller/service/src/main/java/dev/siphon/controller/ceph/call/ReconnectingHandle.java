package dev.siphon.controller.ceph.call;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/// Keeps one handle to a cluster, which connects at its first use. The handle is dropped if it stops answering
/// ([CallLimits]), is idle, or is ended by the cluster; the next call reconnects. A dropped handle stays open
/// until its calls have returned.
///
/// @param <H> the library's handle
public final class ReconnectingHandle<H extends NativeHandle> {
    private static final Logger LOG = LoggerFactory.getLogger(ReconnectingHandle.class);
    private static final Duration CONNECT_PAUSE = Duration.ofSeconds(1);

    private final String name;
    private final String cluster;
    private final CallLimits limits;
    private final CephMetrics metrics;
    private final IntFunction<H> connector;

    private Optional<CompletableFuture<H>> current = Optional.empty();
    private final List<H> retired = new ArrayList<>();
    private final List<CompletableFuture<Void>> closing = new ArrayList<>();
    private int handles;
    private long retryAt;
    private long usedAt;
    private boolean closed;

    /// @param name used for threads and logs
    /// @param connector creates and connects the handle of a given number; blocks; throws [DriverException] on
    ///     failure
    public ReconnectingHandle(
            String name, String cluster, CallLimits limits, CephMetrics metrics, IntFunction<H> connector) {
        this.name = name;
        this.cluster = cluster;
        this.limits = limits;
        this.metrics = metrics;
        this.connector = connector;
    }

    /// Starts to connect unless connected or connecting, and does not wait.
    public void warmUp() {
        var _ = handle();
    }

    /// Runs `body` with the handle on its own thread and waits for it.
    ///
    /// @param what the request and its target, for messages
    /// @param deadline when the caller leaves, by [System#nanoTime]
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if the call did not return in time; it goes on,
    ///     and the locks of the running operation stay held until it ends
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the call did not start
    public <T> T call(String what, long deadline, Function<H, T> body) {
        while (true) {
            H handle = connected(what, deadline);
            Duration left = Duration.ofNanos(deadline - System.nanoTime());
            Optional<T> result = handle.calls().run(what, left, () -> body.apply(handle));
            if (result.isPresent()) {
                return result.get();
            }
        }
    }

    /// Returns the result of `call`; `none` if the handle cannot connect because its directory does not exist. A
    /// file system has no /volumes before its first volume.
    public static <T> T unlessNothingIsThere(T none, Supplier<T> call) {
        try {
            return call.get();
        } catch (DriverException.BackendUnavailable notBegun) {
            if (foundNothing(notBegun)) {
                return none;
            }
            throw notBegun;
        }
    }

    private static boolean foundNothing(DriverException.BackendUnavailable notBegun) {
        return notBegun.getCause() instanceof ExecutionException connecting
                && connecting.getCause() instanceof DriverException.NotFound;
    }

    /// Returns the connected handle. Another caller's attempt may have started before this call's directory was
    /// created, so this retries once if such an attempt finds nothing.
    private H connected(String what, long deadline) {
        Connecting<H> connecting = handle();
        try {
            return await(connecting.handle(), what, deadline);
        } catch (DriverException.BackendUnavailable notBegun) {
            if (connecting.own() || !foundNothing(notBegun)) {
                throw notBegun;
            }
            return await(handle().handle(), what, deadline);
        }
    }

    private H await(CompletableFuture<H> connecting, String what, long deadline) {
        try {
            return connecting.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException _) {
            throw new DriverException.BackendUnavailable(what + " was not started: not connected yet; retry");
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable(what + " was not started: interrupted");
        } catch (ExecutionException e) {
            String why = e.getCause() instanceof DriverException known ? String.valueOf(known.getMessage()) : "";
            throw new DriverException.BackendUnavailable(what + " was not started: " + why, e);
        }
    }

    /// A handle that is connected or connecting.
    ///
    /// @param own whether this caller started the attempt
    private record Connecting<H>(CompletableFuture<H> handle, boolean own) {}

    private synchronized Connecting<H> handle() {
        if (closed) {
            return new Connecting<>(
                    CompletableFuture.failedFuture(new DriverException.BackendUnavailable(name + " is being closed")),
                    true);
        }
        usedAt = System.nanoTime();
        boolean failed =
                current.filter(CompletableFuture::isCompletedExceptionally).isPresent();
        boolean own = current.isEmpty() || (failed && System.nanoTime() - retryAt >= 0);
        if (own) {
            current = Optional.of(connect());
        }
        return new Connecting<>(current.get(), own);
    }

    /// Needs no [dev.siphon.csi.DeadlineExecutor]: an attempt belongs to no caller and holds no locks.
    private CompletableFuture<H> connect() {
        int number = ++handles;
        CompletableFuture<H> connecting = CompletableFuture.supplyAsync(
                () -> connector.apply(number), NativeThreads.named(name + "-connect")::start);
        return connecting.whenComplete((_, error) -> {
            if (error != null) {
                connectFailed(error);
            }
        });
    }

    private synchronized void connectFailed(Throwable error) {
        Throwable why = error.getCause() == null ? error : error.getCause();
        // A file system has no /volumes before its first volume: let the next call retry at once.
        boolean isEmpty = why instanceof DriverException.NotFound;
        retryAt = System.nanoTime() + (isEmpty ? 0 : CONNECT_PAUSE.toNanos());
        LOG.atLevel(isEmpty ? Level.INFO : Level.WARN)
                .addKeyValue("handle", name)
                .log("cannot connect{}: {}", isEmpty ? " yet" : "", why.getMessage());
    }

    /// Drops the handle if it has stopped answering, so that the next call reconnects. Releases the locks of
    /// operations whose calls are lost. Call about once a second.
    public synchronized void sweep() {
        retired.removeIf(handle -> handle.calls().outstanding() == 0);
        retired.forEach(handle -> handle.calls().giveUpLost());
        connected().filter(handle -> handle.calls().giveUpLost()).ifPresent(handle -> {
            if (retired.size() < limits.spareHandles()) {
                LOG.atWarn()
                        .addKeyValue("handle", name)
                        .addKeyValue("outstanding", handle.calls().outstanding())
                        .log("has stopped answering; dropping it");
                metrics.dropped(cluster);
                retire(handle);
            }
        });
    }

    /// Closes the handle if it has no running call and was not used for `idle`; the next call reconnects.
    public synchronized void closeIfIdle(Duration idle) {
        connected()
                .filter(handle -> handle.calls().outstanding() == 0 && System.nanoTime() - usedAt > idle.toNanos())
                .ifPresent(this::retire);
    }

    /// Drops `handle` because the cluster has ended it; the next call reconnects.
    public synchronized void discard(H handle) {
        if (connected().filter(handle::equals).isPresent()) {
            retire(handle);
        }
    }

    private void retire(H handle) {
        current = Optional.empty();
        retired.add(handle);
        closing.removeIf(CompletableFuture::isDone);
        closing.add(handle.calls().retire().thenRunAsync(handle::close, NativeThreads.named(name + "-close")::start));
    }

    private Optional<H> connected() {
        return current.filter(CompletableFuture::isDone)
                .filter(connecting -> !connecting.isCompletedExceptionally())
                .map(CompletableFuture::join);
    }

    /// Rejects further calls.
    ///
    /// @return completes when the calls on all handles have returned and the handles are closed
    public synchronized CompletableFuture<Void> shutDown() {
        closed = true;
        connected().ifPresent(this::retire);
        return CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new));
    }
}
