package dev.siphon.controller.ceph.fs;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/// Finds the names of a tree that belong to the same file. Remembers each file until all its names were met,
/// within the memory budget: a user may create a million. Closing releases the rest of the memory.
final class HardLinks implements AutoCloseable {
    /// Memory for the first name of a file, besides the name's bytes.
    private static final int ENTRY_BYTES = 160;

    private final HardLinkBudget memory;
    private final Map<Long, RemainingNames> incomplete = new HashMap<>();
    private long used;
    private long refused;
    private boolean crowded;

    /// A file with names that were not met yet.
    private record RemainingNames(First first, int left) {}

    /// The result of meeting a name.
    sealed interface Meeting {}

    /// The first name of its file.
    ///
    /// @param done the caller that met it completes this when the file exists under that name
    record First(MountPath name, CompletableFuture<Void> done) implements Meeting {}

    /// A further name.
    record Again(First first) implements Meeting {}

    /// A name for which there is no memory; it may be a first or a further one.
    record NoRoom() implements Meeting {}

    HardLinks(HardLinkBudget memory) {
        this.memory = memory;
    }

    /// Meets a name; call once for each.
    ///
    /// @param links number of names of the file
    synchronized Meeting meet(long inode, int links, MountPath name) {
        RemainingNames known = incomplete.get(inode);
        if (known != null) {
            RemainingNames left = new RemainingNames(known.first(), known.left() - 1);
            if (left.left() > 0) {
                incomplete.put(inode, left);
            } else {
                incomplete.remove(inode);
                give(bytes(known.first().name()));
            }
            return new Again(known.first());
        }
        if (!memory.take(bytes(name))) {
            refused++;
            crowded |= used + bytes(name) <= memory.bytes();
            return new NoRoom();
        }
        used += bytes(name);
        First first = new First(name, new CompletableFuture<>());
        incomplete.put(inode, new RemainingNames(first, links - 1));
        return first;
    }

    private static long bytes(MountPath name) {
        return (long) ENTRY_BYTES + name.bytes().length();
    }

    private void give(long part) {
        used -= part;
        memory.give(part);
    }

    /// Returns whether a refused name would have had room without the others that share the memory.
    synchronized boolean isCrowded() {
        return crowded;
    }

    /// Returns the number of names that were refused for lack of memory.
    synchronized long refused() {
        return refused;
    }

    /// Returns the number of remembered files.
    synchronized int remembered() {
        return incomplete.size();
    }

    @Override
    public synchronized void close() {
        incomplete.clear();
        give(used);
    }
}
