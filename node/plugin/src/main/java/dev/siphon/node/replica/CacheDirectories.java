package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.FileIdentity;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.replica.cache.CacheDirectory;
import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import dev.siphon.node.replica.cache.CachedReplica;
import java.io.UncheckedIOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/// The cache directories of this node. A directory that fails or does not respond is skipped and retried later; the
/// others stay in use.
final class CacheDirectories {
    /// The maximum size of a replica: 4 TiB.
    private static final long MOST_BYTES = 4L << 40;

    private final List<CacheDirectory> directories;
    private final BlockingCalls calls;
    private final ReplicaPolicy policy;

    /// The uses that are not written yet.
    private final Map<Digest, Instant> uses = new ConcurrentHashMap<>();

    /// @param onFailure as in [CacheDirectory]
    CacheDirectories(
            List<CacheDirectoryLimits> limits, Consumer<Path> onFailure, BlockingCalls calls, ReplicaPolicy policy) {
        this.directories = limits.stream()
                .map(each -> new CacheDirectory(each, onFailure, InstantSource.system()))
                .toList();
        this.calls = calls;
        this.policy = policy;
    }

    /// Prepares every directory; a directory that cannot be prepared is not used.
    void prepare() {
        directories.forEach(directory -> readFrom(directory, "prepare", () -> true));
    }

    List<CacheDirectory> directories() {
        return directories;
    }

    CacheDirectory at(Path path) {
        return directories.stream()
                .filter(directory -> directory.path().equals(path))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no cache directory " + path));
    }

    /// Runs `body` on a directory's disk. Returns empty if the directory cannot be read now. A failure or timeout
    /// marks the directory as failing or missing.
    private <T> Optional<T> readFrom(CacheDirectory directory, String subject, Supplier<T> body) {
        if (!directory.isReadable()) {
            return Optional.empty();
        }
        String name = subject + " in " + directory.path();
        try {
            return Optional.of(calls.check(name, name, policy.callLimit(), () -> {
                directory.prepare();
                return body.get();
            }));
        } catch (ErrnoException | UncheckedIOException | DriverException.DeadlinePassed e) {
            if (isMissing(directory, e)) {
                directory.missing(policy.diskRetry());
            } else if (!Thread.currentThread().isInterrupted()) {
                failing(directory, String.valueOf(e.getMessage()));
            }
            return Optional.empty();
        } catch (DriverException.BackendUnavailable _) {
            return Optional.empty(); // calls to other file systems hang; this disk was not accessed
        }
    }

    private static boolean isMissing(CacheDirectory directory, RuntimeException failure) {
        return failure.getCause() instanceof NoSuchFileException missing
                && directory.path().toString().equals(missing.getFile());
    }

    /// Returns the last known readability of each directory. Accesses no disk.
    Map<Path, Boolean> readable() {
        Map<Path, Boolean> readable = new LinkedHashMap<>();
        directories.forEach(directory -> readable.put(directory.path(), directory.isReadable()));
        return readable;
    }

    /// Stops all reads from a directory whose disk fails.
    void failing(CacheDirectory directory, String why) {
        directory.failing("the cache directory " + directory.path() + " fails: " + why, policy.diskRetry());
    }

    /// Reads one block of the dataset's whole replica in `directory`, to detect a failing disk. Does nothing
    /// without a replica.
    void probe(CacheDirectory directory, Digest dataset) {
        CachedReplica replica = directory.replica(dataset);
        var _ = readFrom(directory, "a block of " + dataset, () -> replica.probe());
    }

    /// Returns the directories that must not be read now.
    List<Path> unreadable() {
        return directories.stream()
                .filter(directory -> !directory.isReadable())
                .map(CacheDirectory::path)
                .toList();
    }

    private <T> List<T> collect(String subject, Function<CacheDirectory, List<T>> body) {
        List<T> all = new ArrayList<>();
        directories.forEach(directory ->
                readFrom(directory, subject, () -> body.apply(directory)).ifPresent(all::addAll));
        return all;
    }

    private List<CachedReplica> replicas(Digest dataset, String what, Predicate<CachedReplica> wanted) {
        return collect(
                what + " of " + dataset,
                directory -> Optional.of(directory.replica(dataset)).filter(wanted).stream()
                        .toList());
    }

    /// Returns the whole replicas of a dataset.
    List<CachedReplica> whole(Digest dataset) {
        return replicas(dataset, "replica", CachedReplica::isWhole);
    }

    /// Returns the replicas of a dataset, whole and partial.
    List<CachedReplica> of(Digest dataset) {
        return replicas(dataset, "files", replica -> replica.isWhole() || replica.isPart());
    }

    /// Pins or unpins replicas.
    void pin(List<CachedReplica> replicas, boolean pinned) {
        replicas.forEach(replica -> calls.change(
                "pin of " + replica.digest() + " in " + replica.cache(),
                policy.callLimit(),
                () -> replica.pin(pinned)));
    }

    /// Notes that the dataset is used now, for [#writeUse].
    void used(Digest dataset) {
        if (!directories.isEmpty()) {
            uses.put(dataset, Instant.now());
        }
    }

    /// Writes the last use of the dataset to its replicas, if that is not done.
    void writeUse(Digest dataset) {
        Optional.ofNullable(uses.remove(dataset)).ifPresent(at -> writeUse(dataset, at));
    }

    private void writeUse(Digest dataset, Instant at) {
        var _ = replicas(dataset, "use at " + at, replica -> {
            replica.use(at);
            return true;
        });
    }

    /// Returns the dataset's replica whose image is `file`, if there is one.
    Optional<CachedReplica> holding(Digest dataset, FileIdentity file) {
        return replicas(dataset, "file " + file, replica -> replica.identity().equals(Optional.of(file))).stream()
                .findFirst();
    }

    /// A replica as found on its disk.
    ///
    /// @param percent the share that is filled
    record FoundReplica(
            Digest digest, Path cache, long bytes, int percent, boolean whole, boolean pinned, Instant lastUse) {
        private static final int ALL = 100;

        static FoundReplica of(CachedReplica replica) {
            boolean whole = replica.isWhole();
            return new FoundReplica(
                    replica.digest(),
                    replica.cache(),
                    replica.bytes(),
                    whole ? ALL : replica.percentDone(),
                    whole,
                    replica.isPinned(),
                    replica.lastUse());
        }
    }

    /// Returns the replicas in all readable directories.
    List<FoundReplica> inventory() {
        return collect("inventory", CacheDirectories::inventory);
    }

    /// Returns the replicas in one directory.
    static List<FoundReplica> inventory(CacheDirectory directory) {
        return directory.replicas().stream()
                .map(FoundReplica::of)
                .filter(found -> found.whole() || found.bytes() > 0)
                .toList();
    }

    /// Returns the cache directory that an image mount is dedicated to; empty if it has none or no longer has one.
    Optional<Path> preferredCache(ImageMountKey key) {
        return directories.stream()
                .map(CacheDirectory::path)
                .filter(path -> ImageMountKey.at(key.digest(), path).equals(key))
                .findFirst();
    }

    /// Returns whether no problem is known with the directory `path`.
    boolean isUsable(Path path) {
        return at(path).trouble().isEmpty();
    }

    /// Checks that a replica may have `bytes`, whichever directory it goes to. The limit bounds memory: a fill
    /// holds the digests of its chunks, 8 MiB per terabyte.
    ///
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) above 4 TiB
    static void checkSize(Digest dataset, long bytes) {
        if (bytes > MOST_BYTES) {
            throw new DriverException.QuotaExhausted(
                    "dataset " + dataset + " has " + bytes + " bytes, but a replica can have " + MOST_BYTES
                            + " at most: it is read from CephFS; seal it in parts to use the local disks");
        }
    }

    /// Chooses the directory to fill a replica of `bytes` in: where it was begun, or else by `placement`. Prefers
    /// `near`, unless an eviction is necessary there and not elsewhere.
    ///
    /// @param evictor tells where it can make room
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if no directory takes it
    CacheDirectory place(
            Digest dataset, long bytes, ReplicaPlacement placement, List<Path> near, ReplicaEvictor evictor) {
        for (CachedReplica begun : of(dataset)) {
            CacheDirectory there = at(begun.cache());
            if (there.trouble().isEmpty() && (near.isEmpty() || near.contains(there.path()))) {
                return there;
            }
        }
        List<Path> whole = whole(dataset).stream().map(CachedReplica::cache).toList();
        List<ReplicaPlacement.Candidate> all = candidates().stream()
                .filter(each -> !whole.contains(each.directory()))
                .toList();
        List<ReplicaPlacement.Candidate> close =
                all.stream().filter(each -> near.contains(each.directory())).toList();
        UnaryOperator<List<ReplicaPlacement.Candidate>> afterEvictions = candidates -> candidates.stream()
                .filter(each -> evictor.canMakeRoom(at(each.directory()), dataset, bytes))
                .toList();
        Stream<Supplier<List<ReplicaPlacement.Candidate>>> inOrder = Stream.of(
                () -> roomy(close, bytes),
                () -> roomy(all, bytes),
                () -> afterEvictions.apply(close),
                () -> afterEvictions.apply(all));
        return inOrder.flatMap(some -> placement.choose(dataset, bytes, some.get()).stream())
                .findFirst()
                .map(this::at)
                .orElseThrow(() -> new DriverException.QuotaExhausted("no cache directory has room for the " + bytes
                        + " bytes of dataset " + dataset
                        + " beside what is pinned, ordered by a DatasetReplica, or being filled. Free bytes: "
                        + all.stream()
                                .map(each -> each.directory() + " has " + Math.max(0, each.room()))
                                .toList()
                        + "; unusable: " + problems()));
    }

    /// Returns the directory of `near` that takes a replica of `bytes` without an eviction; empty if none does, or
    /// if `bytes` exceeds the maximum size.
    Optional<Path> room(Digest dataset, long bytes, ReplicaPlacement placement, List<Path> near) {
        if (bytes > MOST_BYTES) {
            return Optional.empty();
        }
        return placement.choose(
                dataset,
                bytes,
                roomy(
                        candidates().stream()
                                .filter(each -> near.contains(each.directory()))
                                .toList(),
                        bytes));
    }

    private static List<ReplicaPlacement.Candidate> roomy(List<ReplicaPlacement.Candidate> candidates, long bytes) {
        return candidates.stream().filter(each -> each.room() >= bytes).toList();
    }

    private List<ReplicaPlacement.Candidate> candidates() {
        return directories.stream()
                .filter(directory -> directory.trouble().isEmpty())
                .flatMap(directory -> candidate(directory).stream())
                .toList();
    }

    private Optional<ReplicaPlacement.Candidate> candidate(CacheDirectory directory) {
        return readFrom(
                directory,
                "room",
                () -> new ReplicaPlacement.Candidate(
                        directory.path(),
                        directory.limits().limitBytes(),
                        directory.usedBytes(),
                        directory.freeBytes()));
    }

    /// Returns the room in each directory, also in full ones; omits unreadable directories.
    List<ReplicaPlacement.Candidate> rooms() {
        return directories.stream()
                .flatMap(directory -> candidate(directory).stream())
                .toList();
    }

    /// Returns why directories are not used now.
    List<String> problems() {
        return directories.stream()
                .flatMap(directory -> directory.trouble().stream())
                .map(CacheDirectory.Trouble::why)
                .toList();
    }
}
