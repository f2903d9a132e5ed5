package dev.siphon.controller.kubernetes;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Tracks the success of a collection's lists and watches, and sets the pause before the next one. It logs an error
/// once, when it occurs twice in a row: a watch on a connection that the server just closed fails routinely.
final class WatchHealth {
    private static final Logger LOG = LoggerFactory.getLogger(WatchHealth.class);

    private static final Duration FIRST_PAUSE = Duration.ofMillis(250);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);
    private static final Duration SHORT = Duration.ofSeconds(1);
    private static final int MOST_DOUBLINGS = 10;

    /// Failures in a row after which the version may be at fault.
    private static final int TRUSTED_FAILURES = 2;

    private final String kind;
    private final LongSupplier nanoTime;

    /// Guarded by this object's lock, like all fields below.
    private long begun;

    private Optional<String> failure = Optional.empty();
    private Optional<String> logged = Optional.empty();
    private int failures;

    /// Whether the driver may list but not watch, as under an older chart's rules: then it lists repeatedly.
    private boolean denied;

    /// Whether the last list or watch ended within [#SHORT].
    private boolean wasShort;

    /// @param kind of the objects, for messages
    /// @param nanoTime [System#nanoTime]
    WatchHealth(String kind, LongSupplier nanoTime) {
        this.kind = kind;
        this.nanoTime = nanoTime;
    }

    /// Runs a list or a watch, and records the result.
    ///
    /// @param isWatch true for a watch, false for a list
    void attempt(boolean isWatch, Runnable act) {
        begin();
        try {
            act.run();
            if (isWatch) {
                watched();
            } else {
                listed();
            }
        } catch (DriverException notNow) {
            fail(String.valueOf(notNow.getMessage()), isWatch && notNow instanceof DriverException.AccessDenied);
        }
        end();
    }

    private synchronized void begin() {
        begun = nanoTime.getAsLong();
    }

    private synchronized void end() {
        wasShort = nanoTime.getAsLong() - begun < SHORT.toNanos();
    }

    private synchronized void listed() {
        if (denied) {
            failures = 0;
        } else {
            watched();
        }
    }

    /// Records that the server accepted a watch.
    synchronized void watched() {
        if (logged.isPresent()) {
            LOG.info("{} are watched again", kind);
        }
        logged = Optional.empty();
        denied = false;
        failure = Optional.empty();
        failures = 0;
    }

    private synchronized void fail(String why, boolean isDenied) {
        denied = isDenied;
        failure = Optional.of(why);
        failures = isDenied ? TRUSTED_FAILURES : failures + 1;
        boolean isStopping = Thread.currentThread().isInterrupted();
        if (failures > 1 && !isStopping && !failure.equals(logged)) {
            LOG.warn("{} are not watched now: {}", kind, why);
            logged = failure;
        }
    }

    /// Returns the pause before the next list or watch.
    ///
    /// @param served whether the cluster has this kind
    synchronized Duration pause(boolean served) {
        if (denied || !served) {
            return LONGEST_PAUSE;
        }
        if (failures == 0) {
            // pauses, in case the server ends each watch at once
            return wasShort ? FIRST_PAUSE : Duration.ZERO;
        }
        Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(failures - 1, MOST_DOUBLINGS));
        return Collections.min(List.of(pause, LONGEST_PAUSE));
    }

    /// Whether the collection must be listed before the next watch.
    synchronized boolean isToBeListed() {
        return failures >= TRUSTED_FAILURES;
    }

    /// Returns the last failure; empty after a success.
    synchronized Optional<String> failure() {
        return failure;
    }
}
