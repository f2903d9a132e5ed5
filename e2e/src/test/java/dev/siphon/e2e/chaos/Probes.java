package dev.siphon.e2e.chaos;

import dev.siphon.e2e.driver.ServedProcess;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/// Probes a process twice a second, as a kubelet does.
final class Probes implements AutoCloseable {
    private static final long PERIOD_MILLIS = 500;

    private final ServedProcess process;
    private final AtomicInteger dead = new AtomicInteger();
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().factory());

    private Probes(ServedProcess process) {
        this.process = process;
    }

    /// Starts probing.
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

    /// Returns whether every reply of `/healthz` was 200.
    boolean alwaysAlive() {
        return dead.get() == 0;
    }

    /// Returns whether `/readyz` is 200 now.
    boolean isReady() {
        return process.readyz() == 200;
    }

    @Override
    public void close() {
        clock.shutdownNow();
    }
}
