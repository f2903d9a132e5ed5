package dev.siphon.controller.ceph;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Makes the MDS flush its journal while a command about a clone takes long (ADR 37). The mgr has several clients
/// of a file system. One client can read another's change only after the MDS has written it to the journal on
/// disk. Without a request from a client, the MDS does that every 5 s (`mds_tick_interval`).
///
/// Each flush is a native call with its own deadline, so its thread needs no other.
final class JournalFlush implements AutoCloseable {
    /// Most commands take a hundredth of this time.
    private static final Duration PERIOD = Duration.ofMillis(200);

    private static final Logger LOG = LoggerFactory.getLogger(JournalFlush.class);

    private final BiConsumer<String, String> prepare;
    private final BiConsumer<String, String> flush;
    private final BackgroundTasks tasks;
    private final Set<FileSystem> prepared = ConcurrentHashMap.newKeySet();
    private final Map<FileSystem, Flush> flushes = new ConcurrentHashMap<>();
    private final ScheduledThreadPoolExecutor clock = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("journal-flush").factory());

    private record FileSystem(String cluster, String name) {}

    /// @param at when the flush began, or ended, by [System#nanoTime]
    private record Flush(long at, boolean hasEnded) {}

    /// @param prepare creates what flushes of a cluster's file system need; may block
    /// @param flush flushes the journal of a cluster's file system; may block
    JournalFlush(BiConsumer<String, String> prepare, BiConsumer<String, String> flush, BackgroundTasks tasks) {
        this.prepare = prepare;
        this.flush = flush;
        this.tasks = tasks;
        clock.setRemoveOnCancelPolicy(true);
    }

    /// Creates what flushes need before a command is sent; later it would wait for a mgr that hangs.
    void prepare(String cluster, String fileSystem) {
        FileSystem of = new FileSystem(cluster, fileSystem);
        if (!prepared.contains(of)) {
            prepare.accept(cluster, fileSystem);
            prepared.add(of);
        }
    }

    /// Runs `command` and flushes the journal repeatedly until it returns.
    <T> T during(String cluster, String fileSystem, Supplier<T> command) {
        FileSystem of = new FileSystem(cluster, fileSystem);
        ScheduledFuture<?> ticks = clock.scheduleWithFixedDelay(
                () -> begin(of), PERIOD.toMillis(), PERIOD.toMillis(), TimeUnit.MILLISECONDS);
        try {
            return command.get();
        } finally {
            ticks.cancel(false);
        }
    }

    /// Starts a flush on its own thread, one at a time per file system for all its commands. A cluster that hangs
    /// does not block the others.
    private void begin(FileSystem of) {
        if (isDue(of)) {
            var _ = Thread.ofVirtual().name("journal-flush").start(tasks.guarded("journal-flush", () -> flush(of)));
        }
    }

    private boolean isDue(FileSystem of) {
        long now = System.nanoTime();
        AtomicBoolean due = new AtomicBoolean();
        flushes.compute(of, (_, last) -> {
            due.set(last == null || (last.hasEnded() && now - last.at() >= PERIOD.toNanos()));
            return due.get() ? new Flush(now, false) : last;
        });
        return due.get();
    }

    private void flush(FileSystem of) {
        try {
            flush.accept(of.cluster(), of.name());
        } catch (DriverException.NotFound removed) {
            prepared.remove(of);
        } catch (DriverException notNow) {
            LOG.atDebug()
                    .addKeyValue("cluster", of.cluster())
                    .addKeyValue("file_system", of.name())
                    .log("the MDS was not asked to write its journal: {}", notNow.getMessage());
        } finally {
            flushes.put(of, new Flush(System.nanoTime(), true));
        }
    }

    @Override
    public void close() {
        clock.shutdownNow();
    }
}
