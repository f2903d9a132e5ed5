package dev.siphon.csi.server;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Whether the process can do its work, as found by a check that runs in the background. Reading it costs nothing
/// and never waits, so Probe and `/readyz` answer while Ceph hangs.
///
/// A check that has not answered within its deadline makes the process not ready. It is left to run, since a
/// native call cannot be cancelled, and no other is started beside it: checks never pile up.
public final class Readiness implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Readiness.class);

    private final Check check;
    private final Duration period;
    private final Duration deadline;
    private final Clock clock;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread poller;
    private volatile ReadinessState state;

    /// Finds out whether the process can work. Runs on a platform thread of its own and may block.
    @FunctionalInterface
    public interface Check {
        /// What keeps the process from working, in words for an administrator; empty if nothing does. Whatever it
        /// throws counts as a problem.
        Optional<String> problem();

        /// What an administrator should know although the process works; empty if nothing. Must not wait.
        default Optional<String> remark() {
            return Optional.empty();
        }
    }

    /// What the last check found.
    ///
    /// @param since when `ready` last changed
    /// @param reason why it is not ready; when it is, what an administrator should know all the same, or empty
    public record ReadinessState(boolean ready, Instant since, String reason) {}

    private Readiness(Check check, Duration period, Duration deadline, Clock clock) {
        this.check = check;
        this.period = period;
        this.deadline = deadline;
        this.clock = clock;
        this.state = new ReadinessState(false, clock.instant(), "not checked yet");
        this.poller = Thread.ofPlatform().daemon().name("readiness").unstarted(this::poll);
    }

    /// Starts to check, at once and then `period` after each check ended.
    ///
    /// @param deadline how long a check may take
    public static Readiness start(Check check, Duration period, Duration deadline) {
        return start(check, period, deadline, Clock.systemUTC());
    }

    static Readiness start(Check check, Duration period, Duration deadline, Clock clock) {
        Readiness readiness = new Readiness(check, period, deadline, clock);
        readiness.poller.start();
        return readiness;
    }

    /// What the last check found.
    public ReadinessState state() {
        return state;
    }

    /// Not ready from now on, whatever a check finds: the process is going down.
    @Override
    public void close() {
        stopped.countDown();
        set(Optional.of("shutting down"));
    }

    private void poll() {
        FutureTask<Optional<String>> running = started();
        try {
            do {
                Optional<String> problem = outcome(running);
                synchronized (this) {
                    if (stopped.getCount() == 0) {
                        return;
                    }
                    set(problem);
                }
                if (running.isDone()) {
                    if (stopped.await(period.toMillis(), TimeUnit.MILLISECONDS)) {
                        return;
                    }
                    running = started();
                }
            } while (true);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private FutureTask<Optional<String>> started() {
        FutureTask<Optional<String>> task = new FutureTask<>(check::problem);
        Thread.ofPlatform().daemon().name("readiness-check").start(task);
        return task;
    }

    private Optional<String> outcome(FutureTask<Optional<String>> running) throws InterruptedException {
        try {
            return running.get(deadline.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException _) {
            return Optional.of("the check has not answered for " + deadline.toSeconds() + " s");
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            LOG.atWarn().setCause(cause).log("readiness check failed");
            return Optional.of("the check failed: " + cause);
        }
    }

    /// Whoever looks after the process must not end by what one of its parts did not foresee.
    private Optional<String> remark() {
        try {
            return check.remark();
        } catch (RuntimeException | Error unforeseen) {
            LOG.atError().setCause(unforeseen).log("a remark of the readiness check failed");
            return Optional.of("a remark failed: " + unforeseen);
        }
    }

    private synchronized void set(Optional<String> problem) {
        ReadinessState before = state;
        String reason = problem.or(this::remark).orElse("");
        boolean ready = problem.isEmpty();
        if (before.ready() == ready && before.reason().equals(reason)) {
            return;
        }
        state = new ReadinessState(ready, before.ready() == ready ? before.since() : clock.instant(), reason);
        LOG.atInfo().addKeyValue("ready", ready).addKeyValue("reason", reason).log("readiness");
    }
}
