package dev.siphon.controller.ceph.rados;

import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.call.CephErrno;
import dev.siphon.controller.ceph.call.CephMetrics;
import dev.siphon.controller.ceph.call.ReconnectingHandle;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;

/// Commands to one cluster; see [dev.siphon.controller.ceph.call.NativeCalls] for deadlines and
/// [ReconnectingHandle] for when a connection is given up.
///
/// librados itself follows the cluster's maps: after a mgr's failover or a mon's restart it sends again what
/// was not answered, on the same handle.
public final class CephConnection implements AutoCloseable {
    private static final int ATTEMPTS = 3;

    private volatile ClusterAccess access;
    private final CallLimits limits;
    private final Supplier<Duration> timeLeft;
    private final CephMetrics metrics;
    private final ReconnectingHandle<RadosHandle> handles;

    /// @param timeLeft how long the caller on this thread still waits
    public CephConnection(ClusterAccess access, CallLimits limits, Supplier<Duration> timeLeft, CephMetrics metrics) {
        this.access = access;
        this.limits = limits;
        this.timeLeft = timeLeft;
        this.metrics = metrics;
        this.handles = new ReconnectingHandle<>(
                "ceph-" + access.cluster(),
                access.cluster(),
                limits,
                metrics,
                number -> RadosHandle.connect(access(), number, limits, metrics));
    }

    /// How this cluster is reached.
    public ClusterAccess access() {
        return access;
    }

    /// Connects by other monitors from now on. The connection that there is follows the cluster itself.
    public void moved(List<String> monitors) {
        access = access.at(monitors);
    }

    /// Begins to connect, if that has not been done, and does not wait for it.
    public void warmUp() {
        handles.warmUp();
    }

    /// Sends a command and waits for the answer, which may be a refusal. A command that only reads is sent
    /// again, twice at most, when the daemon lost its own connections over it.
    ///
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if there is no answer in time; the command
    ///     may still take effect, and keeps the keys of the running operation until then
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if it was not sent
    public CommandReply call(CephCommand command) {
        return call(command, limits.patience());
    }

    /// As [#call(CephCommand)], waiting `atMost` where that is less than the limits allow.
    public CommandReply call(CephCommand command, Duration atMost) {
        Duration patience = Collections.min(List.of(timeLeft.get(), atMost, limits.patience()));
        long deadline = System.nanoTime() + patience.toNanos();
        String what = command.prefix() + " in cluster " + access.cluster();
        CommandReply reply = measured(command, what, deadline);
        for (int attempt = 1; attempt < ATTEMPTS && command.repeatable() && isCutOff(reply); attempt++) {
            reply = measured(command, what, deadline);
        }
        return reply;
    }

    private static boolean isCutOff(CommandReply reply) {
        return reply.is(CephErrno.ENOTCONN) || reply.is(CephErrno.ESHUTDOWN);
    }

    private CommandReply measured(CephCommand command, String what, long deadline) {
        return metrics.measure(
                access.cluster(),
                command.daemon().toString(),
                command.prefix(),
                CommandReply::result,
                () -> handles.call(what, deadline, handle -> handle.send(command, what)));
    }

    /// See [ReconnectingHandle#sweep].
    public void sweep() {
        handles.sweep();
    }

    /// Takes no further call and does not wait for those that are under way.
    @Override
    public void close() {
        var _ = handles.shutDown();
    }
}
