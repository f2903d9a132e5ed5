package dev.siphon.controller.ceph.fs;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/// One listing of a directory at a time on a client. Where two threads list the same directory and others change it
/// meanwhile, libcephfs 20.2.4 ends the process (`Client::insert_readdir_results`: `FAILED
/// ceph_assert(effective_dir->readdir_cache[dirp->cache_index] == dn)`).
final class DirectoryListingLock {
    private final Map<Object, Directory> listed = new ConcurrentHashMap<>();

    /// @param callers who list it now or wait for that
    private record Directory(ReentrantLock lock, int callers) {}

    /// Waits until nobody lists that directory, as long as that may take, and lists it. Listings of different
    /// directories nest: from the top down, so that none waits for another.
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

    /// How many directories are listed now, or are waited for.
    int directories() {
        return listed.size();
    }
}
