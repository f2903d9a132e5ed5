package dev.siphon.controller.ceph.fs;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/// Which files of a tree are names of the same file, each remembered until all of its names were met, and no more
/// of them than there is room for: a user may make a million. Closing gives the room of the rest back.
final class HardLinks implements AutoCloseable {
    /// What the first name of a file takes in memory, beside its bytes.
    private static final int ENTRY_BYTES = 160;

    private final HardLinkBudget memory;
    private final Map<Long, RemainingNames> incomplete = new HashMap<>();
    private long used;
    private long refused;
    private boolean crowded;

    /// A file of which names are still to come.
    private record RemainingNames(First first, int left) {}

    /// What a name that was met is.
    sealed interface Meeting {}

    /// The first name of its file.
    ///
    /// @param done to be completed by who met it, when the file is there under that name
    record First(MountPath name, CompletableFuture<Void> done) implements Meeting {}

    /// Another name.
    record Again(First first) implements Meeting {}

    /// A name that cannot be remembered, nor told from a first one.
    record NoRoom() implements Meeting {}

    HardLinks(HardLinkBudget memory) {
        this.memory = memory;
    }

    /// Meets a name, each once.
    ///
    /// @param links how many names the file has
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

    /// Whether one of these would have had room, were it not for others that share the memory.
    synchronized boolean isCrowded() {
        return crowded;
    }

    /// How many names there was no room for.
    synchronized long refused() {
        return refused;
    }

    /// How many files are remembered.
    synchronized int remembered() {
        return incomplete.size();
    }

    @Override
    public synchronized void close() {
        incomplete.clear();
        give(used);
    }
}
