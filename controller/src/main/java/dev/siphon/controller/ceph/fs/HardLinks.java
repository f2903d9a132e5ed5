package dev.siphon.controller.ceph.fs;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/// Which files of a tree are names of the same file: the first name that is met is copied, the others are
/// linked.
final class HardLinks {
    private final Map<Long, CompletableFuture<MountPath>> firstCopies = new ConcurrentHashMap<>();

    /// The path of the first copy of a file, which `copy` makes if this is the first name met; waits while
    /// another thread makes it.
    MountPath first(long inode, Supplier<MountPath> copy) {
        CompletableFuture<MountPath> own = new CompletableFuture<>();
        CompletableFuture<MountPath> first = firstCopies.putIfAbsent(inode, own);
        if (first != null) {
            return first.join();
        }
        try {
            own.complete(copy.get());
        } finally {
            // Whoever waits for a copy that failed fails too.
            own.cancel(false);
        }
        return own.join();
    }
}
