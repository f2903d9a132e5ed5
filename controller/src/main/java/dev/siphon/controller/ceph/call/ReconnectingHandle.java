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

/// One handle to a cluster, connected when first used, and again when it was given up: because it stopped
/// answering ([CallLimits]), or because it was idle. A dropped handle lives until its calls have returned.
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

    /// @param name for threads and logs
    /// @param connector makes the handle of that number and connects it, blocking; throws [DriverException]
    ///     if it cannot
    public ReconnectingHandle(
            String name, String cluster, CallLimits limits, CephMetrics metrics, IntFunction<H> connector) {
        this.name = name;
        this.cluster = cluster;
        this.limits = limits;
        this.metrics = metrics;
        this.connector = connector;
    }

    /// Begins to connect, if that has not been done, and does not wait for it.
    public void warmUp() {
        var _ = handle();
    }

    /// Runs `body` with the handle, on a thread of its own, and waits for it.
    ///
    /// @param what what is asked of whom, for messages
    /// @param deadline when the caller leaves, on the clock of [System#nanoTime]
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if the call did not return in time; it goes
    ///     on, and keeps the keys of the running operation until then
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if it was not begun
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

    /// What `call` returns, or `none` where it was not begun since what it is to be made in is not there: a file
    /// system has no /volumes before its first volume.
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

    /// Somebody else's attempt may have begun before what this call is about was made: where it finds nothing,
    /// there is another.
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
            throw new DriverException.BackendUnavailable(what + " was not begun: not connected yet; retry");
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable(what + " was not begun: interrupted");
        } catch (ExecutionException e) {
            String why = e.getCause() instanceof DriverException known ? String.valueOf(known.getMessage()) : "";
            throw new DriverException.BackendUnavailable(what + " was not begun: " + why, e);
        }
    }

    /// A handle that is connected, or is being.
    ///
    /// @param own whether that was begun for who asks now
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
        // a file system has no /volumes before its first volume: the next call may find it
        boolean isEmpty = why instanceof DriverException.NotFound;
        retryAt = System.nanoTime() + (isEmpty ? 0 : CONNECT_PAUSE.toNanos());
        LOG.atLevel(isEmpty ? Level.INFO : Level.WARN)
                .addKeyValue("handle", name)
                .log("cannot connect{}: {}", isEmpty ? " yet" : "", why.getMessage());
    }

    /// Drops the handle if it has stopped answering, so that the next call connects anew, and frees the keys
    /// of operations whose calls are lost. To be called every second or so.
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

    /// Closes the handle if it has not been used for `idle`; the next call connects anew.
    public synchronized void closeIfIdle(Duration idle) {
        connected()
                .filter(handle -> handle.calls().outstanding() == 0 && System.nanoTime() - usedAt > idle.toNanos())
                .ifPresent(this::retire);
    }

    /// Takes `handle` out of use because the cluster has ended it; the next call connects anew.
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

    /// Takes no further call.
    ///
    /// @return completes when all handles are closed, which is when their calls have returned
    public synchronized CompletableFuture<Void> shutDown() {
        closed = true;
        connected().ifPresent(this::retire);
        return CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new));
    }
}
