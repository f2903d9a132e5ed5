package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.mount.SharedValues;
import dev.siphon.node.replica.cache.CacheDirectory;
import dev.siphon.node.replica.cache.CachedReplica;
import dev.siphon.node.replica.cache.EvictionOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Removes replicas. A tree that reads one is first switched back to CephFS, under its readers.
final class ReplicaEvictor {
    private static final Logger LOG = LoggerFactory.getLogger(ReplicaEvictor.class);

    private final BackingFileSwitcher switcher;
    private final ImageMounts imageMounts;
    private final BlockingCalls calls;
    private final ReplicaPolicy policy;
    private final ReplicaCounts counts;
    private final SharedValues<Digest, DatasetState> states;
    private final Map<Path, ReentrantLock> locks = new ConcurrentHashMap<>();

    /// Who protects which dataset's replicas: orders, and fills.
    private final Map<Digest, Set<Object>> keepers = new ConcurrentHashMap<>();

    /// @param states the states of all datasets
    ReplicaEvictor(
            BackingFileSwitcher switcher,
            ImageMounts imageMounts,
            BlockingCalls calls,
            ReplicaPolicy policy,
            ReplicaCounts counts,
            SharedValues<Digest, DatasetState> states) {
        this.states = states;
        this.switcher = switcher;
        this.imageMounts = imageMounts;
        this.calls = calls;
        this.policy = policy;
        this.counts = counts;
    }

    /// Makes room in `directory` for a replica of `bytes` of `dataset`, and then runs `then`, which takes the room.
    ///
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if evictions cannot free enough
    /// @throws DriverException.OperationPending (ABORTED) if another dataset still makes room in `directory`
    void makeRoom(CacheDirectory directory, Digest dataset, long bytes, Runnable then) {
        // one at a time per directory, so that two fills do not claim the same room
        ReentrantLock lock = locks.computeIfAbsent(directory.path(), _ -> new ReentrantLock(true));
        if (!taken(lock)) {
            throw new DriverException.OperationPending(
                    "room is still being made in " + directory.path() + " for another dataset");
        }
        try {
            List<Digest> leaving = leaving(directory, dataset, bytes);
            while (!leaving.isEmpty()) {
                Digest first = leaving.getFirst();
                LOG.atInfo()
                        .addKeyValue("dataset", first)
                        .addKeyValue("cache", directory.path())
                        .addKeyValue("for", dataset)
                        .log("evicting a replica");
                boolean gone =
                        states.use(first, state -> evictUnpinned(state, () -> List.of(directory.replica(first))));
                // if it was pinned meanwhile, others are chosen
                leaving = gone ? leaving.subList(1, leaving.size()) : leaving(directory, dataset, bytes);
            }
            then.run();
        } finally {
            lock.unlock();
        }
    }

    /// Protects the dataset's replicas from eviction in favour of others, pinned on disk or not, until `keeper` calls
    /// [#releaseFor].
    void keepFor(Digest dataset, Object keeper) {
        keepers.merge(
                dataset,
                Set.of(keeper),
                (some, more) -> Stream.concat(some.stream(), more.stream()).collect(Collectors.toUnmodifiableSet()));
    }

    /// Ends the protection by `keeper`; that by others stays.
    void releaseFor(Digest dataset, Object keeper) {
        keepers.computeIfPresent(dataset, (_, all) -> {
            Set<Object> rest =
                    all.stream().filter(each -> !each.equals(keeper)).collect(Collectors.toUnmodifiableSet());
            return rest.isEmpty() ? null : rest;
        });
    }

    /// Returns whether [#makeRoom] could make room in `directory` for a replica of `bytes` of `dataset` now.
    boolean canMakeRoom(CacheDirectory directory, Digest dataset, long bytes) {
        return toEvict(directory, dataset, bytes).isPresent();
    }

    private boolean taken(ReentrantLock lock) {
        try {
            return lock.tryLock(policy.callLimit().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private List<Digest> leaving(CacheDirectory directory, Digest dataset, long bytes) {
        return toEvict(directory, dataset, bytes)
                .orElseThrow(() -> new DriverException.QuotaExhausted("dataset " + dataset + " of " + bytes
                        + " bytes does not fit into " + directory.path() + ", whose limit is "
                        + directory.limits().limitBytes()
                        + " bytes, beside what is pinned, ordered by a DatasetReplica, or being filled"));
    }

    private record Content(List<CacheDirectories.FoundReplica> replicas, long freeBytes) {}

    private Optional<List<Digest>> toEvict(CacheDirectory directory, Digest dataset, long bytes) {
        Content content = calls.change(
                "room in " + directory.path(),
                policy.callLimit(),
                () -> new Content(CacheDirectories.inventory(directory), directory.freeBytes()));
        // a fill that was begun has its blocks already
        long begun = content.replicas().stream()
                .filter(other -> other.digest().equals(dataset))
                .mapToLong(CacheDirectories.FoundReplica::bytes)
                .sum();
        List<EvictionOrder.Candidate> present = content.replicas().stream()
                .filter(other -> !other.digest().equals(dataset))
                .map(other -> states.use(other.digest(), state -> candidate(other, state, directory.path())))
                .toList();
        return EvictionOrder.toFit(directory.limits(), present, bytes, content.freeBytes() + begun);
    }

    private EvictionOrder.Candidate candidate(CacheDirectories.FoundReplica found, DatasetState state, Path directory) {
        return new EvictionOrder.Candidate(
                found.digest(),
                found.bytes(),
                found.lastUse(),
                found.pinned() || keepers.containsKey(found.digest()),
                state.mayRead(directory));
    }

    /// Removes replicas of a dataset, whole or partial, and cancels its requests for replicas.
    ///
    /// @param replicas called once no other thread works on them
    /// @throws DriverException.OperationPending (ABORTED) if the current work on them does not end in time
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if one is pinned, or a loop device outside the driver
    ///     reads it
    void evict(DatasetState state, Supplier<List<CachedReplica>> replicas) {
        if (!evictUnpinned(state, replicas)) {
            throw new DriverException.InUse("the replica of dataset " + state.digest() + " is pinned; unpin it first");
        }
    }

    /// Evicts as [#evict] does, but does not throw if a replica is pinned.
    ///
    /// @return whether they are removed; false if one is pinned, even while this waited for other work to end
    private boolean evictUnpinned(DatasetState state, Supplier<List<CachedReplica>> replicas) {
        if (replicas.get().stream().anyMatch(this::isPinned)) {
            return false; // no need to pause other work
        }
        state.pause();
        try {
            if (!state.tryLock(policy.callLimit())) {
                throw new DriverException.OperationPending("the replica of dataset " + state.digest()
                        + " is still being filled or checked; retry when that has ended");
            }
            try {
                List<CachedReplica> leaving = replicas.get();
                if (leaving.stream().anyMatch(this::isPinned)) {
                    return false;
                }
                state.want(WantedReplicas::evicted);
                leaving.forEach(replica -> {
                    remove(state, replica);
                    counts.evictions().increment();
                });
                return true;
            } finally {
                state.unlock();
            }
        } finally {
            state.resume();
        }
    }

    private boolean isPinned(CachedReplica replica) {
        return calls.change(
                "pin of " + replica.digest() + " in " + replica.cache(), policy.callLimit(), replica::isPinned);
    }

    /// Removes one replica as [#evict] does; the caller holds the dataset's lock.
    void remove(DatasetState state, CachedReplica replica) {
        Path cache = replica.cache();
        switcher.back(state, cache);
        calls.change("cache " + cache + " of " + state.digest(), policy.callLimit(), () -> {
            if (replica.identity()
                    .filter(file -> imageMounts.isRead(state.digest(), file))
                    .isPresent()) {
                throw new DriverException.InUse("a loop device still reads " + replica.image());
            }
            replica.discard();
        });
        state.know(known -> known.withoutCheck(cache));
    }
}
