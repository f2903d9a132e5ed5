package dev.siphon.controller.ceph.rados;

import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.call.CallerDeadline;
import dev.siphon.controller.ceph.call.CephErrno;
import dev.siphon.controller.ceph.call.CephMetrics;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Commands to one cluster. Connects when first used, and again when the handle has stopped answering; see
/// [dev.siphon.controller.ceph.call.NativeCalls] for deadlines and [CallLimits] for when a handle is given
/// up.
///
/// librados itself follows the cluster's maps: after a mgr's failover or a mon's restart it sends again what
/// was not answered, on the same handle.
public final class CephConnection implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CephConnection.class);
    private static final Duration CONNECT_PAUSE = Duration.ofSeconds(1);
    private static final int ATTEMPTS = 3;

    private final ClusterAccess access;
    private final CallLimits limits;
    private final CallerDeadline callers;
    private final CephMetrics metrics;

    private Optional<CompletableFuture<RadosHandle>> current = Optional.empty();
    private final List<RadosHandle> retired = new ArrayList<>();
    private int handles;
    private long failedAt;
    private boolean closed;

    public CephConnection(ClusterAccess access, CallLimits limits, CallerDeadline callers, CephMetrics metrics) {
        this.access = access;
        this.limits = limits;
        this.callers = callers;
        this.metrics = metrics;
    }

    /// How this cluster is reached.
    public ClusterAccess access() {
        return access;
    }

    /// Begins to connect, if that has not been done, and does not wait for it.
    public void warmUp() {
        var _ = handle();
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

    /// As [#call(CephCommand)], waiting `atMost`.
    public CommandReply call(CephCommand command, Duration atMost) {
        long deadline = System.nanoTime() + callers.within(atMost).toNanos();
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
        long began = System.nanoTime();
        String result = "unavailable";
        try {
            CommandReply reply = send(command, what, deadline);
            result = reply.returnCode() == 0
                    ? "ok"
                    : CephErrno.of(reply.returnCode()).map(Enum::name).orElse("other");
            return reply;
        } catch (DriverException.DeadlinePassed e) {
            result = "deadline";
            throw e;
        } finally {
            metrics.ended(
                    access.cluster(), command.daemon().toString(), command.prefix(), result, System.nanoTime() - began);
        }
    }

    private CommandReply send(CephCommand command, String what, long deadline) {
        while (true) {
            RadosHandle handle = await(handle(), what, deadline);
            Duration left = Duration.ofNanos(deadline - System.nanoTime());
            Optional<CommandReply> reply = handle.calls().run(what, left, () -> handle.send(command, what));
            if (reply.isPresent()) {
                return reply.get();
            }
        }
    }

    private RadosHandle await(CompletableFuture<RadosHandle> connecting, String what, long deadline) {
        try {
            return connecting.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException _) {
            throw new DriverException.BackendUnavailable(what + " was not sent: no mon answers yet; retry");
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable(what + " was not sent: interrupted");
        } catch (ExecutionException e) {
            String why = e.getCause() instanceof DriverException known ? String.valueOf(known.getMessage()) : "";
            throw new DriverException.BackendUnavailable(what + " was not sent: " + why, e);
        }
    }

    private synchronized CompletableFuture<RadosHandle> handle() {
        if (closed) {
            return CompletableFuture.failedFuture(
                    new DriverException.BackendUnavailable("cluster " + access.cluster() + " is being closed"));
        }
        boolean failed =
                current.filter(CompletableFuture::isCompletedExceptionally).isPresent();
        if (current.isEmpty() || (failed && System.nanoTime() - failedAt > CONNECT_PAUSE.toNanos())) {
            current = Optional.of(connect());
        }
        return current.get();
    }

    private CompletableFuture<RadosHandle> connect() {
        int number = ++handles;
        CompletableFuture<RadosHandle> connecting = CompletableFuture.supplyAsync(
                () -> RadosHandle.connect(access, number, limits, metrics),
                Thread.ofPlatform().daemon().name("ceph-" + access.cluster() + "-connect")::start);
        return connecting.whenComplete((_, error) -> {
            if (error != null) {
                connectFailed(String.valueOf(error.getMessage()));
            }
        });
    }

    private synchronized void connectFailed(String why) {
        failedAt = System.nanoTime();
        LOG.atWarn().addKeyValue("cluster", access.cluster()).log("cannot connect: {}", why);
    }

    /// Drops the handle if it has stopped answering, so that the next call connects anew; frees the keys of
    /// operations whose calls are lost. To be called every second or so.
    public synchronized void sweep() {
        retired.removeIf(handle -> handle.calls().outstanding() == 0);
        retired.forEach(handle -> handle.calls().giveUpLost());
        connected().filter(handle -> handle.calls().giveUpLost()).ifPresent(handle -> {
            if (retired.size() < limits.spareHandles()) {
                LOG.atWarn()
                        .addKeyValue("cluster", access.cluster())
                        .addKeyValue("outstanding", handle.calls().outstanding())
                        .log("the handle has stopped answering; dropping it");
                metrics.dropped(access.cluster());
                retired.add(handle);
                current = Optional.empty();
                var _ = handle.retire();
            }
        });
    }

    private Optional<RadosHandle> connected() {
        return current.filter(CompletableFuture::isDone)
                .filter(connecting -> !connecting.isCompletedExceptionally())
                .map(CompletableFuture::join);
    }

    /// Takes no further call. The handle is closed once its calls have returned; those that never do end with
    /// the process.
    @Override
    public synchronized void close() {
        closed = true;
        connected().ifPresent(handle -> {
            var _ = handle.retire();
        });
        current = Optional.empty();
    }
}
