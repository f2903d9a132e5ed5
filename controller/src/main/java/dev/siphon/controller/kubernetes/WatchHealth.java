package dev.siphon.controller.kubernetes;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// How the lists and watches of a collection went, and when the next one may be. A trouble is logged once, when it has
/// come twice in a row: a watch that begins on a connection which the server has just closed fails as a matter of
/// course.
final class WatchHealth {
    private static final Logger LOG = LoggerFactory.getLogger(WatchHealth.class);

    private static final Duration FIRST_PAUSE = Duration.ofMillis(250);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);
    private static final Duration SHORT = Duration.ofSeconds(1);
    private static final int MOST_DOUBLINGS = 10;

    /// Failures in a row after which the version may be what is wrong.
    private static final int TRUSTED_FAILURES = 2;

    private final String kind;
    private final LongSupplier nanoTime;

    /// Under this object's lock, like all that follows.
    private long begun;

    private Optional<String> failure = Optional.empty();
    private Optional<String> logged = Optional.empty();
    private int failures;

    /// Whether the driver may list and not watch, as an older chart's rules have it: then it lists, again and again.
    private boolean denied;

    /// Whether the last list or watch ended within [#SHORT].
    private boolean wasShort;

    /// @param kind of the objects, for messages
    /// @param nanoTime [System#nanoTime]
    WatchHealth(String kind, LongSupplier nanoTime) {
        this.kind = kind;
        this.nanoTime = nanoTime;
    }

    /// Tries a list or a watch, and remembers how it went.
    ///
    /// @param isWatch a list otherwise
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

    /// The server has accepted a watch.
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

    /// How long to wait before the next one.
    ///
    /// @param served whether the cluster has that kind
    synchronized Duration pause(boolean served) {
        if (denied || !served) {
            return LONGEST_PAUSE;
        }
        if (failures == 0) {
            // a server that ends each watch at once is not asked without a pause
            return wasShort ? FIRST_PAUSE : Duration.ZERO;
        }
        Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(failures - 1, MOST_DOUBLINGS));
        return Collections.min(List.of(pause, LONGEST_PAUSE));
    }

    /// Whether the collection is to be listed before it is watched again.
    synchronized boolean isToBeListed() {
        return failures >= TRUSTED_FAILURES;
    }

    /// What is wrong; empty if nothing is.
    synchronized Optional<String> failure() {
        return failure;
    }
}
