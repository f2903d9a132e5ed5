package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.ceph.call.NativeThreads;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/// One copy of a tree, by several threads and in a mount of its own, so that it neither waits for nor delays
/// anything else.
///
/// Each directory counts what is still to do in it and gets its times and owner when that is done. Paths are
/// safe: the source is a snapshot, which nobody changes, and the target is a volume that nobody has mounted
/// yet.
final class TreeCopy {
    private static final int WORKERS = 8;
    private static final int BATCH = 64;
    private static final int MOST_QUEUED = 256;
    private static final Duration POLL = Duration.ofMillis(100);

    private final Order order;
    private final FileTree.Copy progress =
            new FileTree.Copy(new CompletableFuture<>(), new LongAdder(), new LongAdder());
    private final BlockingDeque<Work> queue = new LinkedBlockingDeque<>();
    private final HardLinks links = new HardLinks();
    private volatile boolean stopped;

    /// What to copy where, and who is to own it.
    record Order(String source, String target, int uid, int gid) {}

    /// A directory that is being copied.
    ///
    /// @param pending pieces of work in it that are not done, its own listing included
    private record Directory(MountPath source, MountPath target, Optional<Directory> parent, AtomicInteger pending) {}

    private sealed interface Work {
        /// The directory that counts this piece.
        Directory directory();
    }

    private record Listing(Directory directory) implements Work {}

    private record Files(Directory directory, List<Mount.Entry> entries) implements Work {}

    private TreeCopy(Order order) {
        this.order = order;
    }

    /// Begins a copy when `copies` has a thread for it.
    static FileTree.Copy start(Executor copies, Supplier<Mount> mounts, Order order) {
        TreeCopy copy = new TreeCopy(order);
        var _ = copy.progress.done().whenComplete((_, _) -> copy.stopIf(true));
        var _ = CompletableFuture.runAsync(() -> copy.run(mounts), copies)
                .whenComplete((_, error) -> copy.ended(Optional.ofNullable(error)));
        return copy.progress;
    }

    private void ended(Optional<Throwable> error) {
        error.map(thrown ->
                        thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown)
                .ifPresentOrElse(
                        progress.done()::completeExceptionally,
                        () -> progress.done().complete(null));
    }

    private void run(Supplier<Mount> mounts) {
        if (stopped) {
            return;
        }
        try (Mount own = mounts.get()) {
            copyTree(own);
            own.sync();
        }
    }

    private void copyTree(Mount own) {
        MountPath source = own.locate(order.source());
        MountPath target = own.locate(order.target());
        own.openDirectory(source).close();
        own.openDirectory(target).close();
        queue.addFirst(new Listing(new Directory(source, target, Optional.empty(), new AtomicInteger(1))));
        AtomicInteger open = new AtomicInteger(1);
        try (ExecutorService workers = Executors.newFixedThreadPool(
                WORKERS, NativeThreads.numbered("copy-worker-").factory())) {
            List<CompletableFuture<Void>> running = new ArrayList<>();
            for (int i = 0; i < WORKERS; i++) {
                running.add(CompletableFuture.runAsync(() -> work(own, open), workers)
                        .whenComplete((_, error) -> stopIf(error != null)));
            }
            CompletableFuture.allOf(running.toArray(CompletableFuture[]::new)).join();
        }
        if (open.get() > 0) {
            throw new DriverException.BackendUnavailable("the copy to " + order.target() + " was stopped");
        }
    }

    /// Makes the workers end, those that hang when the MDS answers again: a client that goes without a word
    /// keeps the MDS from letting others in for a minute.
    private void stopIf(boolean over) {
        if (over) {
            stopped = true;
        }
    }

    /// Takes work until the root is done.
    ///
    /// @param open 1 until then
    private void work(Mount own, AtomicInteger open) {
        try (EntryCopy copier = new EntryCopy(own, order, links, progress)) {
            while (!stopped && open.get() > 0) {
                Optional<Work> next = next();
                if (next.isPresent()) {
                    perform(own, copier, next.get());
                    if (done(copier, next.get().directory())) {
                        open.set(0);
                    }
                }
            }
        }
    }

    private Optional<Work> next() {
        try {
            return Optional.ofNullable(queue.pollFirst(POLL.toMillis(), TimeUnit.MILLISECONDS));
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            stopped = true;
            return Optional.empty();
        }
    }

    private void perform(Mount own, EntryCopy copier, Work work) {
        switch (work) {
            case Files files -> copyFiles(copier, files);
            case Listing listing -> list(own, copier, listing.directory());
        }
    }

    private void copyFiles(EntryCopy copier, Files files) {
        Directory directory = files.directory();
        for (Mount.Entry entry : files.entries()) {
            if (!stopped) {
                copier.copy(
                        directory.source().child(entry.name()),
                        directory.target().child(entry.name()));
            }
        }
    }

    private void list(Mount own, EntryCopy copier, Directory directory) {
        if (directory.parent().isPresent()) {
            own.makeDirectory(directory.target());
        }
        List<Mount.Entry> batch = new ArrayList<>();
        own.list(directory.source(), entry -> {
            if (entry.isDirectory()) {
                add(new Listing(new Directory(
                        directory.source().child(entry.name()),
                        directory.target().child(entry.name()),
                        Optional.of(directory),
                        new AtomicInteger(1))));
                directory.pending().incrementAndGet();
            } else {
                batch.add(entry);
            }
            if (batch.size() == BATCH) {
                hand(copier, directory, batch);
            }
        });
        hand(copier, directory, batch);
    }

    /// Leaves a batch to whoever is free, or copies it here when enough is queued: a directory of a million
    /// files must not end up in memory.
    private void hand(EntryCopy copier, Directory directory, List<Mount.Entry> batch) {
        Files files = new Files(directory, List.copyOf(batch));
        batch.clear();
        if (queue.size() < MOST_QUEUED) {
            directory.pending().incrementAndGet();
            add(files);
        } else {
            copyFiles(copier, files);
        }
    }

    private void add(Work work) {
        queue.addFirst(work);
    }

    /// Counts a piece of work as done, and finishes every directory that it was the last of.
    ///
    /// @return whether the root is finished
    private boolean done(EntryCopy copier, Directory last) {
        Optional<Directory> current = Optional.of(last);
        while (current.isPresent() && !stopped) {
            Directory directory = current.get();
            if (directory.pending().decrementAndGet() > 0) {
                return false;
            }
            copier.copyAttributes(directory.source(), directory.target());
            if (directory.parent().isEmpty()) {
                return true;
            }
            copier.finish(directory.source(), directory.target());
            current = directory.parent();
        }
        return false;
    }
}
