package dev.siphon.controller.ceph.fs;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/// Which files of a tree are names of the same file, each remembered until all of its names were met, and no more of
/// them than there is room for: a user may make a million.
final class HardLinks {
    /// What the first name of a file takes in memory, beside its bytes.
    private static final int ENTRY_BYTES = 160;

    /// Of the heap: two copies of trees run at once.
    private static final int SHARE = 8;

    private final long room;
    private final Map<Long, Names> incomplete = new HashMap<>();
    private long used;
    private long refused;

    /// A file of which names are still to come.
    private record Names(First first, int left) {}

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

    /// @param room in bytes
    HardLinks(long room) {
        this.room = room;
    }

    /// With as much room as this process can spare.
    static HardLinks ofThisProcess() {
        return new HardLinks(Runtime.getRuntime().maxMemory() / SHARE);
    }

    /// Meets a name, each once.
    ///
    /// @param links how many names the file has
    synchronized Meeting meet(long inode, int links, MountPath name) {
        Names known = incomplete.get(inode);
        if (known != null) {
            Names left = new Names(known.first(), known.left() - 1);
            if (left.left() > 0) {
                incomplete.put(inode, left);
            } else {
                incomplete.remove(inode);
                used -= bytes(known.first().name());
            }
            return new Again(known.first());
        }
        if (used + bytes(name) > room) {
            refused++;
            return new NoRoom();
        }
        First first = new First(name, new CompletableFuture<>());
        used += bytes(name);
        incomplete.put(inode, new Names(first, links - 1));
        return first;
    }

    private static long bytes(MountPath name) {
        return (long) ENTRY_BYTES + name.bytes().length();
    }

    /// How many names there was no room for.
    synchronized long refused() {
        return refused;
    }

    /// How many files are remembered.
    synchronized int remembered() {
        return incomplete.size();
    }
}
