package dev.siphon.csi.server;

import dev.siphon.csi.DeadlineExecutor;
import dev.siphon.csi.DriverException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Polls in the background whether the process can work. Reading the state never blocks, so Probe and `/readyz`
/// reply while Ceph hangs.
///
/// A check that exceeds its deadline makes the process not ready. It continues
/// ([DeadlineExecutor]), and no other starts until it ends: checks never pile up.
public final class Readiness implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Readiness.class);

    private final Check check;
    private final Duration period;
    private final Duration deadline;
    private final Clock clock;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread poller;
    private final DeadlineExecutor threads = new DeadlineExecutor(
            Thread.ofPlatform().daemon().name("readiness-", 0).factory(), 1, 1);
    private volatile ReadinessState state;

    /// Checks whether the process can work. Runs on its own platform thread and may block.
    @FunctionalInterface
    public interface Check {
        /// Returns the problem that keeps the process from working, for an administrator; empty if there is none.
        /// Any exception counts as a problem.
        Optional<String> problem();

        /// Returns what an administrator should know although the process works; empty if nothing. Must not block.
        default Optional<String> remark() {
            return Optional.empty();
        }
    }

    /// The result of the last check.
    ///
    /// @param since when `ready` last changed
    /// @param reason why the process is not ready; if it is ready, a remark for the administrator, or empty
    public record ReadinessState(boolean ready, Instant since, String reason) {}

    private Readiness(Check check, Duration period, Duration deadline, Clock clock) {
        this.check = check;
        this.period = period;
        this.deadline = deadline;
        this.clock = clock;
        this.state = new ReadinessState(false, clock.instant(), "not checked yet");
        this.poller = Thread.ofPlatform().daemon().name("readiness").unstarted(this::poll);
    }

    /// Starts polling: at once, and then `period` after the end of each check.
    ///
    /// @param deadline time limit of a check
    public static Readiness start(Check check, Duration period, Duration deadline) {
        return start(check, period, deadline, Clock.systemUTC());
    }

    static Readiness start(Check check, Duration period, Duration deadline, Clock clock) {
        Readiness readiness = new Readiness(check, period, deadline, clock);
        readiness.poller.start();
        return readiness;
    }

    /// Returns the result of the last check.
    public ReadinessState state() {
        return state;
    }

    /// Makes the process not ready for good, whatever a check finds: it shuts down.
    @Override
    public void close() {
        stopped.countDown();
        set(Optional.of("shutting down"));
    }

    private void poll() {
        try {
            do {
                Optional<String> problem = outcome();
                synchronized (this) {
                    if (stopped.getCount() == 0) {
                        return;
                    }
                    set(problem);
                }
            } while (threads.underWay() > 0 || !stopped.await(period.toMillis(), TimeUnit.MILLISECONDS));
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private Optional<String> outcome() {
        try {
            return threads.check("readiness", "check", deadline, check::problem);
        } catch (RuntimeException | Error failure) {
            if (failure instanceof DriverException.DeadlinePassed && threads.underWay() > 0) {
                return Optional.of("the check has not answered for " + deadline.toSeconds() + " s");
            }
            LOG.atWarn().setCause(failure).log("readiness check failed");
            return Optional.of("the check failed: " + failure);
        }
    }

    /// A remark that fails must not end the polling thread.
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
