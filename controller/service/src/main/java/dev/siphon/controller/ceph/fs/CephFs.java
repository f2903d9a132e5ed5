package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.call.CephMetrics;
import dev.siphon.controller.ceph.call.ReconnectingHandle;
import dev.siphon.controller.ceph.rados.ClusterAccess;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/// A client of one file system, or of a cluster's MDS daemons. It connects when needed and closes when idle.
final class CephFs {
    private static final Duration IDLE = Duration.ofMinutes(1);

    private final ClusterAccess access;
    private final CallLimits limits;
    private final Supplier<Duration> timeLeft;
    private final CephMetrics metrics;
    private final ReconnectingHandle<MountHandle> handles;

    /// @param name used for threads and logs
    /// @param mounts connects a client; blocks
    CephFs(
            ClusterAccess access,
            String name,
            Supplier<Mount> mounts,
            CallLimits limits,
            Supplier<Duration> timeLeft,
            CephMetrics metrics) {
        this.access = access;
        this.limits = limits;
        this.timeLeft = timeLeft;
        this.metrics = metrics;
        this.handles = new ReconnectingHandle<>(
                name,
                access.cluster(),
                limits,
                metrics,
                number -> MountHandle.of(mounts.get(), name + "-" + number, access, limits, metrics));
    }

    /// See [ReconnectingHandle#warmUp].
    void warmUp() {
        handles.warmUp();
    }

    /// Runs `body` with a mount and waits for it; runs it once more if the MDS had ended the client's session.
    /// `body` must be safe to repeat.
    ///
    /// @param operation name for messages and metrics
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if it does not end in time; it goes on
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if it did not start, or was cut off
    <T> T call(String operation, Function<Mount, T> body) {
        long deadline = System.nanoTime()
                + Collections.min(List.of(timeLeft.get(), limits.patience())).toNanos();
        String what = operation + " in cluster " + access.cluster();
        return attempt(operation, what, deadline, body)
                .or(() -> attempt(operation, what, deadline, body))
                .orElseThrow(() -> new DriverException.BackendUnavailable(what + " was cut off by the MDS; retry"));
    }

    private <T> Optional<T> attempt(String operation, String what, long deadline, Function<Mount, T> body) {
        return metrics.measure(
                access.cluster(),
                "mds",
                operation,
                result -> result.isPresent() ? "ok" : "cut off",
                () -> handles.call(what, deadline, handle -> unlessCutOff(handle, body)));
    }

    private <T> Optional<T> unlessCutOff(MountHandle handle, Function<Mount, T> body) {
        try {
            return Optional.of(body.apply(handle.mount()));
        } catch (DriverException.BackendUnavailable e) {
            if (!handle.mount().client().isCutOff()) {
                throw e;
            }
            handles.discard(handle);
            return Optional.empty();
        }
    }

    /// See [ReconnectingHandle#sweep]; also closes the handle if idle.
    void sweep() {
        handles.sweep();
        handles.closeIfIdle(IDLE);
    }

    /// See [ReconnectingHandle#shutDown].
    CompletableFuture<Void> shutDown() {
        return handles.shutDown();
    }
}
