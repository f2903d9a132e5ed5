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

/// Controllers that stand for leader, and again when they have lost, as their pods are started again; and a record of
/// who
/// led from when to when.
final class StandingControllers implements AutoCloseable {
    private final Map<String, Leadership> standing = new ConcurrentHashMap<>();

    /// In the order of time; under this object's lock, like all that follows.
    private final List<Change> changes = new ArrayList<>();

    private boolean closed;

    /// @param leads whether the controller leads from then on, or no longer
    record Change(long nanos, String name, boolean leads) {}

    void stand(String name, KubernetesAccess access) {
        stand(name, access, Duration.ZERO);
    }

    /// @param ahead by how much its clock is
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

    /// What has changed until now.
    synchronized List<Change> changes() {
        return List.copyOf(changes);
    }

    /// Who leads now.
    synchronized Set<String> leaders() {
        Set<String> leaders = new HashSet<>();
        for (Change each : changes) {
            boolean _ = each.leads() ? leaders.add(each.name()) : leaders.remove(each.name());
        }
        return leaders;
    }

    /// Waits until those who lead are such ones.
    ///
    /// @return who leads
    synchronized Set<String> awaitLeaders(Duration longest, Predicate<Set<String>> such) throws InterruptedException {
        long end = System.nanoTime() + longest.toNanos();
        while (!such.test(leaders())) {
            long left = end - System.nanoTime();
            assertTrue(left > 0, () -> "not within " + longest + ": " + changes);
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return leaders();
    }

    /// Fails if two led at once at any time.
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
