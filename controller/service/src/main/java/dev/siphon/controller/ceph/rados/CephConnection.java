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

/// Sends commands to one cluster. [dev.siphon.controller.ceph.call.NativeCalls] describes the deadlines,
/// [ReconnectingHandle] when a connection is dropped.
///
/// librados itself follows the cluster's maps: after a mgr's failover or a mon's restart it resends unanswered
/// commands on the same handle.
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

    /// Returns the cluster's monitors, user and keyring file.
    public ClusterAccess access() {
        return access;
    }

    /// Uses other monitors for new connections. The current connection follows the cluster itself.
    public void moved(List<String> monitors) {
        access = access.at(monitors);
    }

    /// Starts to connect unless connected or connecting, and does not wait.
    public void warmUp() {
        handles.warmUp();
    }

    /// Sends a command and waits for the reply, which may be an error. Retries a command that only reads, twice
    /// at most, if the daemon lost its own connections during it.
    ///
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if no reply came in time; the command may still
    ///     take effect, and the locks of the running operation stay held until it ends
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the command was not sent
    public CommandReply call(CephCommand command) {
        return call(command, limits.patience());
    }

    /// Same as [#call(CephCommand)], but waits `atMost` if that is less than the limits allow.
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

    /// Rejects further calls and does not wait for those that run.
    @Override
    public void close() {
        var _ = handles.shutDown();
    }
}
