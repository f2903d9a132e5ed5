package dev.siphon.controller.ceph.fs;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/// Lets only one thread of a client list a directory at a time. If two threads list the same directory and others
/// change it meanwhile, libcephfs 20.2.4 aborts the process (`Client::insert_readdir_results`:
/// `FAILED ceph_assert(effective_dir->readdir_cache[dirp->cache_index] == dn)`).
final class DirectoryListingLock {
    private final Map<Object, Directory> listed = new ConcurrentHashMap<>();

    /// @param callers number of threads that list it now or wait for that
    private record Directory(ReentrantLock lock, int callers) {}

    /// Runs a listing when nobody else lists that directory; waits without a limit. Listings of different
    /// directories may nest from the top down, so they cannot deadlock.
    <T> T take(Object directory, Supplier<T> listing) {
        ReentrantLock lock = listed.compute(directory, (_, now) -> enter(now)).lock();
        lock.lock();
        try {
            return listing.get();
        } finally {
            lock.unlock();
            listed.computeIfPresent(
                    directory, (_, now) -> now.callers() == 1 ? null : new Directory(now.lock(), now.callers() - 1));
        }
    }

    private static Directory enter(Directory now) {
        return now == null ? new Directory(new ReentrantLock(), 1) : new Directory(now.lock(), now.callers() + 1);
    }

    /// Returns the number of directories that are listed now or waited for.
    int directories() {
        return listed.size();
    }
}
