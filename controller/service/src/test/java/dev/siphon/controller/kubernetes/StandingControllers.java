package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.kubernetes.Leadership.Clocks;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/// Controllers that compete for leadership, and compete again after a loss, like restarted pods. Records who led
/// from when to when.
final class StandingControllers implements AutoCloseable {
    private final Map<String, Leadership> standing = new ConcurrentHashMap<>();

    /// In chronological order. This object's lock guards it and all fields below.
    private final List<Change> changes = new ArrayList<>();

    private boolean closed;

    /// @param leads whether the controller started or stopped leading
    record Change(long nanos, String name, boolean leads) {}

    void stand(String name, KubernetesAccess access) {
        stand(name, access, Duration.ZERO);
    }

    /// @param ahead how far its clock is ahead
    synchronized void stand(String name, KubernetesAccess access, Duration ahead) {
        if (closed) {
            return;
        }
        Clocks clocks = new Clocks(System::nanoTime, InstantSource.offset(InstantSource.system(), ahead));
        Leadership leadership = new Leadership(access, name, () -> lost(name, access, ahead), clocks).start();
        standing.put(name, leadership);
        Thread.ofVirtual().start(() -> {
            try {
                leadership.await();
                note(name, true);
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private void lost(String name, KubernetesAccess access, Duration ahead) {
        note(name, false);
        Thread.ofVirtual().start(() -> stand(name, access, ahead));
    }

    private synchronized void note(String name, boolean leads) {
        changes.add(new Change(System.nanoTime(), name, leads));
        notifyAll();
    }

    /// Returns the changes so far.
    synchronized List<Change> changes() {
        return List.copyOf(changes);
    }

    /// Returns the current leaders.
    synchronized Set<String> leaders() {
        Set<String> leaders = new HashSet<>();
        for (Change each : changes) {
            boolean _ = each.leads() ? leaders.add(each.name()) : leaders.remove(each.name());
        }
        return leaders;
    }

    /// Waits until the leaders satisfy `such`.
    ///
    /// @return the leaders
    synchronized Set<String> awaitLeaders(Duration longest, Predicate<Set<String>> such) throws InterruptedException {
        long end = System.nanoTime() + longest.toNanos();
        while (!such.test(leaders())) {
            long left = end - System.nanoTime();
            assertTrue(left > 0, () -> "not within " + longest + ": " + changes);
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return leaders();
    }

    /// Fails if two controllers ever led at the same time.
    synchronized void checkNeverTwo() {
        Set<String> leading = new HashSet<>();
        for (Change each : changes) {
            boolean _ = each.leads() ? leading.add(each.name()) : leading.remove(each.name());
            assertTrue(leading.size() < 2, () -> "two lead at once: " + leading + " of " + changes);
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        standing.values().forEach(Leadership::close);
    }
}
