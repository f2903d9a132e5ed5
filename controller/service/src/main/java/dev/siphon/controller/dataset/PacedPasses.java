package dev.siphon.controller.dataset;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/// Runs the passes of a reconciler that take a bounded share of the time, and reports a lasting trouble once.
public final class PacedPasses {
    private final Duration least;
    private final int pauses;
    private volatile Duration pause;

    /// Why the last pass failed.
    private Optional<String> trouble = Optional.empty();

    /// @param least the shortest pause after a pass
    /// @param pauses the pause, as a multiple of the time that the pass took
    public PacedPasses(Duration least, int pauses) {
        this.least = least;
        this.pauses = pauses;
        this.pause = least;
    }

    /// Runs a pass.
    ///
    /// @param report receives why it failed, unless the last one failed for the same reason
    public void run(Runnable pass, Consumer<String> report) {
        long begun = System.nanoTime();
        try {
            pass.run();
            trouble = Optional.empty();
        } catch (DriverException notNow) {
            Optional<String> why = Optional.ofNullable(notNow.getMessage());
            if (!why.equals(trouble)) {
                report.accept(String.valueOf(notNow.getMessage()));
            }
            trouble = why;
        } finally {
            pause = after(Duration.ofNanos(System.nanoTime() - begun));
        }
    }

    /// Returns the pause after the last pass.
    public Duration pause() {
        return pause;
    }

    /// @param taken duration of a pass
    Duration after(Duration taken) {
        return Collections.max(List.of(least, taken.multipliedBy(pauses)));
    }
}
