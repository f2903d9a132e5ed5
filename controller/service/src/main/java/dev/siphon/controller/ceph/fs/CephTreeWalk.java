package dev.siphon.controller.ceph.fs;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/// Walks a tree that nobody changes, in any number of threads that call [#work], and holds little of it in
/// memory. A user may create a million files or directories in one directory, and nest each a thousand deep.
///
/// Each directory counts its unfinished work, and the deepest work comes first. When enough work is queued, a
/// listing stops early, and resumes after the entries found so far are done. Then only one directory per level
/// waits, and the listing thread visits files itself.
final class CephTreeWalk {
    /// Maximum number of files that a visitor gets at once.
    static final int BATCH = 64;

    /// Queued pieces of work at which listings stop early.
    static final int ENOUGH = 256;

    private static final int SHARE = 4;
    private static final long LOOK_MILLIS = 100;

    private final Lister lister;
    private final BooleanSupplier stopped;

    /// Guarded by its own lock, like the next two fields.
    private final Deque<Work> queue = new ArrayDeque<>();

    private boolean done;
    private int mostQueued;

    /// Lists directories like [Mount#listFrom].
    @FunctionalInterface
    interface Lister {
        OptionalLong list(DirectoryNode directory, long from, Predicate<Mount.Entry> each);
    }

    /// Visits the tree; each thread has its own visitor. An exception ends that thread's work.
    interface Visitor {
        /// Called before anything else of a directory.
        void enter(DirectoryNode directory);

        /// Called with entries of an entered directory that are not directories.
        ///
        /// @param names at most [#BATCH]
        void visit(DirectoryNode directory, List<MountPath> names);

        /// Called when everything in a directory is done.
        void leave(DirectoryNode directory);
    }

    /// @param pending unfinished pieces of work in it, its own listing included
    private record Directory(DirectoryNode place, Optional<Directory> parent, AtomicInteger pending) {
        Directory child(MountPath name) {
            return new Directory(place.child(name), Optional.of(this), new AtomicInteger(1));
        }
    }

    private sealed interface Work {
        /// Returns the directory that counts this piece.
        Directory directory();
    }

    /// @param from see [Lister]; 0 if it has not started
    private record Listing(Directory directory, long from) implements Work {}

    private record Files(Directory directory, List<MountPath> names) implements Work {}

    /// @param stopped whether to end before all is done
    CephTreeWalk(Lister lister, BooleanSupplier stopped) {
        this.lister = lister;
        this.stopped = stopped;
        queue.add(new Listing(new Directory(DirectoryNode.ROOT, Optional.empty(), new AtomicInteger(1)), 0));
    }

    /// Walks until all threads together have done everything, or until stopped.
    void work(Visitor visitor) {
        for (Optional<Work> next = next(); next.isPresent(); next = next()) {
            switch (next.get()) {
                case Files files -> visitor.visit(files.directory().place(), files.names());
                case Listing listing -> list(visitor, listing);
            }
            count(visitor, next.get().directory());
        }
    }

    /// Returns whether everything was walked.
    boolean isDone() {
        synchronized (queue) {
            return done;
        }
    }

    /// Returns the maximum number of pieces of work that were queued at once.
    int mostQueued() {
        synchronized (queue) {
            return mostQueued;
        }
    }

    private Optional<Work> next() {
        synchronized (queue) {
            try {
                while (queue.isEmpty() && !done && !stopped.getAsBoolean()) {
                    queue.wait(LOOK_MILLIS);
                }
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
                return Optional.empty();
            }
            return done || stopped.getAsBoolean() ? Optional.empty() : Optional.ofNullable(queue.pollFirst());
        }
    }

    private void list(Visitor visitor, Listing listing) {
        Directory directory = listing.directory();
        if (listing.from() == 0) {
            visitor.enter(directory.place());
        }
        int share = Math.max(1, (ENOUGH - queued()) / SHARE);
        List<Work> found = new ArrayList<>();
        List<MountPath> batch = new ArrayList<>();
        OptionalLong rest = lister.list(directory.place(), listing.from(), entry -> {
            if (entry.isDirectory()) {
                found.add(new Listing(directory.child(entry.name()), 0));
            } else {
                batch.add(entry.name());
            }
            if (batch.size() == BATCH) {
                hand(visitor, directory, batch);
            }
            return found.size() < share && !stopped.getAsBoolean();
        });
        hand(visitor, directory, batch);
        // Behind the others, which are done first.
        rest.ifPresent(from -> found.addFirst(new Listing(directory, from)));
        directory.pending().addAndGet(found.size());
        add(found);
    }

    /// Queues a batch for a free thread, or visits it here if enough work is queued.
    private void hand(Visitor visitor, Directory directory, List<MountPath> batch) {
        List<MountPath> names = List.copyOf(batch);
        batch.clear();
        if (names.isEmpty()) {
            return;
        }
        if (queued() < ENOUGH) {
            directory.pending().incrementAndGet();
            add(List.of(new Files(directory, names)));
        } else {
            visitor.visit(directory.place(), names);
        }
    }

    private int queued() {
        synchronized (queue) {
            return queue.size();
        }
    }

    private void add(List<Work> works) {
        synchronized (queue) {
            works.forEach(queue::addFirst);
            mostQueued = Math.max(mostQueued, queue.size());
            queue.notifyAll();
        }
    }

    /// Counts a piece of work as done, and leaves every directory whose last piece it was.
    private void count(Visitor visitor, Directory last) {
        Optional<Directory> current = Optional.of(last);
        while (current.isPresent() && !stopped.getAsBoolean()) {
            Directory directory = current.get();
            if (directory.pending().decrementAndGet() > 0) {
                return;
            }
            visitor.leave(directory.place());
            current = directory.parent();
            if (current.isEmpty()) {
                synchronized (queue) {
                    done = true;
                    queue.notifyAll();
                }
            }
        }
    }
}
