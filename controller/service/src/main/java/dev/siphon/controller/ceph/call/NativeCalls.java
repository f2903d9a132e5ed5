package dev.siphon.controller.ceph.call;

import dev.siphon.csi.DeadlineExecutor;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/// Runs the native calls on one handle by a [DeadlineExecutor], and counts them.
///
/// A retired handle accepts no further call. It is closed after its last call has returned, never
/// before: Ceph's libraries crash if a handle is closed while in use.
public final class NativeCalls {
    private final String cluster;
    private final CallLimits limits;
    private final CephMetrics metrics;
    private final DeadlineExecutor calls;

    /// @param name prefix of the threads' names
    public NativeCalls(String name, String cluster, CallLimits limits, CephMetrics metrics) {
        this.cluster = cluster;
        this.limits = limits;
        this.metrics = metrics;
        this.calls = new DeadlineExecutor(NativeThreads.numbered(name + "-").factory(), limits.slots(), limits.slots());
    }

    /// Runs `body` on its own thread and waits for it.
    ///
    /// @param what the request and its target, for messages and the thread's name
    /// @param patience how long the caller waits for a free slot and the call together
    /// @return empty if this handle is retired; `body` has not run then
    /// @throws dev.siphon.csi.DriverException as [DeadlineExecutor#run]
    /// @throws IllegalStateException if `body` ended with an [Error], such as a missing symbol: callers that undo
    ///     what a failed call began catch no Error
    public <T> Optional<T> run(String what, Duration patience, Supplier<T> body) {
        return calls.run(cluster, what, patience, () -> {
            metrics.inFlight(cluster, 1);
            try {
                return body.get();
            } catch (Error failed) {
                throw new IllegalStateException(what + " failed", failed);
            } finally {
                metrics.inFlight(cluster, -1);
            }
        });
    }

    /// Rejects further calls.
    ///
    /// @return completes when the last call has returned; then the caller may close the handle
    public CompletableFuture<Void> retire() {
        calls.close();
        return calls.drained();
    }

    /// Releases the locks of operations whose callers have left and whose calls, by the limits, will
    /// not return.
    ///
    /// @return whether there were such calls; if so, replace this handle
    public boolean giveUpLost() {
        return calls.giveUpLost(limits.silence(), limits.lost());
    }

    /// Returns the number of calls that have not returned.
    public int outstanding() {
        return calls.underWay();
    }
}
