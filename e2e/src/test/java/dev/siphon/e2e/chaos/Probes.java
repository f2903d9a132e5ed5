package dev.siphon.e2e.chaos;

import dev.siphon.e2e.driver.ServedProcess;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/// Asks a process twice a second how it is, as a kubelet would.
final class Probes implements AutoCloseable {
    private static final long PERIOD_MILLIS = 500;

    private final ServedProcess process;
    private final AtomicInteger dead = new AtomicInteger();
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().factory());

    private Probes(ServedProcess process) {
        this.process = process;
    }

    /// Begins to ask.
    static Probes of(ServedProcess process) {
        Probes probes = new Probes(process);
        var _ = probes.clock.scheduleWithFixedDelay(probes::look, 0, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
        return probes;
    }

    private void look() {
        if (process.healthz() != 200) {
            dead.incrementAndGet();
        }
    }

    /// Whether `/healthz` has been 200 each time.
    boolean alwaysAlive() {
        return dead.get() == 0;
    }

    /// What `/readyz` says now.
    boolean isReady() {
        return process.readyz() == 200;
    }

    @Override
    public void close() {
        clock.shutdownNow();
    }
}
