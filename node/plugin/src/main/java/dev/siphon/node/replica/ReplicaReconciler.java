package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.csi.dataset.ManifestOutline;
import dev.siphon.node.chunk.Bandwidth;
import dev.siphon.node.chunk.ChunkCheck;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.replica.cache.CacheDirectory;
import dev.siphon.node.replica.cache.CachedReplica;
import dev.siphon.node.replica.cache.ReplicaFill;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Determines and takes the next step for a dataset. It derives the step each time from the disks and mounts, so
/// the driver may be killed after any step.
final class ReplicaReconciler {
    private static final Logger LOG = LoggerFactory.getLogger(ReplicaReconciler.class);
    private static final Bandwidth UNLIMITED = new Bandwidth(OptionalLong.empty());

    private final CacheDirectories cacheDirectories;
    private final BackingFileSwitcher switcher;
    private final ReplicaEvictor evictor;
    private final BlockingCalls calls;
    private final ReplicaSettings settings;
    private final BooleanSupplier closed;
    private final ReplicaCounts counts;
    private final Semaphore fills;
    private final Bandwidth fillBandwidth;
    private final Bandwidth scrubBandwidth;

    ReplicaReconciler(
            CacheDirectories cacheDirectories,
            BackingFileSwitcher switcher,
            ReplicaEvictor evictor,
            BlockingCalls calls,
            ReplicaSettings settings,
            BooleanSupplier closed,
            ReplicaCounts counts) {
        this.cacheDirectories = cacheDirectories;
        this.switcher = switcher;
        this.evictor = evictor;
        this.calls = calls;
        this.settings = settings;
        this.closed = closed;
        this.counts = counts;
        this.fills = new Semaphore(settings.pace().fillsAtOnce(), true);
        this.fillBandwidth = new Bandwidth(settings.pace().fillBytesPerSecond());
        this.scrubBandwidth = new Bandwidth(settings.pace().scrubBytesPerSecond());
    }

    /// Takes the next step.
    ///
    /// @return the delay until the next step; empty if nothing is left to do until a request
    /// @throws DriverException if the step failed and must be retried
    Optional<Duration> step(DatasetState state) {
        if (state.isPaused() || !state.tryLock(settings.pace().callLimit())) {
            return Optional.of(settings.pace().firstRetry());
        }
        try {
            state.takeUse().ifPresent(at -> cacheDirectories.use(state.digest(), at));
            long news = state.attachmentChanges();
            boolean left = false;
            for (Path cache : state.servedFrom()) {
                left |= abandonReplica(state, cacheDirectories.at(cache));
            }
            if (left) {
                return Optional.of(Duration.ZERO);
            }
            // scrub before another fill, which may fail for days
            return serve(state)
                    .or(() -> scrub(state, news))
                    .or(() -> fill(state, news))
                    .or(() -> untilScrub(state));
        } finally {
            state.unlock();
        }
    }

    /// Switches a tree to a better replica, or verifies a requested replica that has no tree.
    ///
    /// @return the delay until the next step; empty if there is nothing to do
    private Optional<Duration> serve(DatasetState state) {
        List<CachedReplica> whole = cacheDirectories.whole(state.digest());
        if (whole.isEmpty()) {
            return Optional.empty();
        }
        if (!state.isAttached()) {
            return state.isWanted() ? adopt(state, Optional.empty(), whole.getFirst()) : Optional.empty();
        }
        for (ImageMount tree : state.attachments()) {
            Optional<CachedReplica> better = better(state, tree, whole);
            if (better.isPresent()) {
                return adopt(state, Optional.of(tree.key()), better.get());
            }
        }
        return Optional.empty();
    }

    /// Returns a replica that the tree should read instead of its current source: one in the tree's preferred
    /// directory, or any one instead of CephFS.
    private Optional<CachedReplica> better(DatasetState state, ImageMount tree, List<CachedReplica> whole) {
        Optional<Path> now = tree.place().cache();
        List<Path> homes = tree.key().equals(state.key())
                ? state.preferredCaches()
                : cacheDirectories.preferredCache(tree.key()).stream().toList();
        if (now.filter(homes::contains).isPresent()) {
            return Optional.empty();
        }
        return whole.stream()
                .filter(replica -> homes.contains(replica.cache()))
                .findFirst()
                .or(() -> now.isPresent() ? Optional.empty() : whole.stream().findFirst());
    }

    /// Stops the use of the replica in `directory` behind a tree, if the replica is corrupt or its disk fails.
    private boolean abandonReplica(DatasetState state, CacheDirectory directory) {
        Optional<String> disk =
                directory.trouble().filter(CacheDirectory.Trouble::unreadable).map(CacheDirectory.Trouble::why);
        if (disk.isPresent()) {
            switcher.back(state, directory.path());
            // once the disk works, the replica is verified completely before it is used again
            state.markCorrupt(state.corruptReplica().filter(damaged -> !damaged.equals(directory.path())));
            state.problem(disk);
            state.requestReplica(false);
            return true;
        }
        if (state.corruptReplica().filter(directory.path()::equals).isEmpty()) {
            return false;
        }
        state.requestReplica(false);
        if (state.attachment(ImageMountKey.at(state.digest(), directory.path())).isPresent()) {
            state.requestReplicaIn(directory.path());
        }
        discard(state, directory, directory.replica(state.digest()));
        return true;
    }

    /// Verifies each replica in use once per period.
    private Optional<Duration> scrub(DatasetState state, long news) {
        for (Path cache : state.servedFrom()) {
            CachedReplica replica = cacheDirectories.at(cache).replica(state.digest());
            if (!untilCheck(state, replica).isPositive()
                    && !verifyReplica(state, replica, Optional.of(scrubBandwidth), () -> isOver(state, news))) {
                return Optional.of(Duration.ZERO);
            }
        }
        return Optional.empty();
    }

    private Optional<Duration> untilScrub(DatasetState state) {
        return state.servedFrom().stream()
                .map(cache -> untilCheck(state, cacheDirectories.at(cache).replica(state.digest())))
                .min(Duration::compareTo);
    }

    /// Removes a corrupt replica. If that fails too, the disk is at fault.
    private void discard(DatasetState state, CacheDirectory directory, CachedReplica replica) {
        try {
            evictor.remove(state, replica);
        } catch (ErrnoException | UncheckedIOException e) {
            cacheDirectories.failing(directory, String.valueOf(e.getMessage()));
        }
        state.markCorrupt(Optional.empty());
    }

    private Duration untilCheck(DatasetState state, CachedReplica replica) {
        long failures = cacheDirectories.at(replica.cache()).failures();
        return state.lastCheck(replica)
                .filter(last -> last.failures() == failures)
                .map(last -> Duration.between(
                        Instant.now(), last.at().plus(settings.pace().scrubPeriod())))
                .orElse(Duration.ZERO);
    }

    /// Puts a whole replica into use. First reads it completely, unless this run of the driver has done so within
    /// the period and its disk has not failed since.
    private Optional<Duration> adopt(DatasetState state, Optional<ImageMountKey> tree, CachedReplica replica) {
        if (!untilCheck(state, replica).isPositive()) {
            if (!verifyReplica(state, replica, Optional.empty(), () -> false)) {
                if (state.corruptReplica().filter(replica.cache()::equals).isPresent()) {
                    state.requestReplica(false);
                    discard(state, cacheDirectories.at(replica.cache()), replica);
                }
                return Optional.of(Duration.ZERO);
            }
        }
        state.has(replica.cache());
        if (tree.isEmpty()) {
            return Optional.empty();
        }
        switcher.to(state, tree.get(), replica);
        state.problem(Optional.empty());
        return Optional.of(Duration.ZERO);
    }

    /// Reads a whole replica. Marks it as corrupt if a chunk is wrong or a read fails. Records no result if it was
    /// stopped earlier.
    ///
    /// @param stop whether to stop early
    private boolean verifyReplica(
            DatasetState state, CachedReplica replica, Optional<Bandwidth> scrub, BooleanSupplier stop) {
        Optional<String> damage = Optional.empty();
        long failures = cacheDirectories.at(replica.cache()).failures();
        try {
            Manifest manifest = calls.check(
                    "cache " + replica.cache() + " of " + state.digest(),
                    "manifest of " + state.digest() + " in " + replica.cache(),
                    settings.pace().callLimit(),
                    replica::manifest);
            ChunkCheck check = new ChunkCheck(replica.image(), manifest);
            boolean all = check.run(
                    ChunkCheck.all(manifest),
                    scrub.isPresent() ? state.scrubLane() : state.lanes(),
                    scrub.orElse(UNLIMITED),
                    () -> isStopped(state) || stop.getAsBoolean() || !check.isClean());
            if (!check.isClean()) {
                damage = Optional.of("chunk " + check.damaged().nextSetBit(0) + " of " + replica.image()
                        + " is not what its manifest says");
            } else if (all) {
                state.checked(replica, failures);
                return cacheDirectories.at(replica.cache()).failures() == failures;
            }
        } catch (DriverException.BackendFault | ErrnoException | UncheckedIOException e) {
            damage = Optional.of(String.valueOf(e.getMessage()));
        }
        damage.ifPresent(why -> {
            LOG.atError().addKeyValue("dataset", state.digest()).log("a replica is corrupt: {}", why);
            state.unchecked(replica);
            state.problem(Optional.of(why));
            state.markCorrupt(Optional.of(replica.cache()));
        });
        return false;
    }

    /// Returns whether to stop long work. Readers on a failing disk come first.
    private boolean isStopped(DatasetState state) {
        return closed.getAsBoolean() || state.isPaused() || isReadFromFailing(state);
    }

    private boolean isReadFromFailing(DatasetState state) {
        return state.servedFrom().stream()
                .anyMatch(cache -> !cacheDirectories.at(cache).isReadable());
    }

    /// Fills the replica that is requested and missing.
    ///
    /// @return the delay until the next step; empty if there is no fill to do
    private Optional<Duration> fill(DatasetState state, long news) {
        if (settings.caches().isEmpty() || state.image().isEmpty()) {
            return Optional.empty(); // the next attach provides the image's path
        }
        List<Path> whole = cacheDirectories.whole(state.digest()).stream()
                .map(CachedReplica::cache)
                .toList();
        whole.forEach(state::cancelReplicaIn);
        if (isCommonWanted(state, whole)) {
            Duration wait = state.untilSettled();
            return wait.isPositive() ? Optional.of(wait) : fillCommon(state, news, whole);
        }
        Optional<Path> at =
                state.wantedAt().stream().filter(cacheDirectories::isUsable).findFirst();
        if (at.isEmpty()) {
            return Optional.empty();
        }
        try {
            return fill(
                    state, at, () -> isOver(state, news) || !state.wantedAt().contains(at.get()));
        } catch (DriverException.QuotaExhausted e) {
            LOG.atInfo()
                    .addKeyValue("dataset", state.digest())
                    .addKeyValue("cache", at.get())
                    .addKeyValue("reason", e.getMessage())
                    .log("no replica is filled there: the dataset is read from where it is");
            state.cancelReplicaIn(at.get());
            return Optional.of(Duration.ZERO);
        }
    }

    private boolean isCommonWanted(DatasetState state, List<Path> whole) {
        List<Path> homes = state.preferredCaches().stream()
                .filter(cacheDirectories::isUsable)
                .toList();
        return state.isWantedAnywhere()
                && (homes.isEmpty() ? whole.isEmpty() : homes.stream().noneMatch(whole::contains));
    }

    private Optional<Duration> fillCommon(DatasetState state, long news, List<Path> whole) {
        try {
            return fill(state, Optional.empty(), () -> isOver(state, news) || !state.isWantedAnywhere());
        } catch (DriverException.QuotaExhausted e) {
            if (whole.isEmpty()) {
                throw e;
            }
            state.setPreferredCache(whole.getFirst());
            return Optional.of(Duration.ZERO);
        }
    }

    /// Returns whether to stop, also because of a new image mount: it may use an existing replica, and a fill takes
    /// long.
    private boolean isOver(DatasetState state, long news) {
        return isStopped(state) || state.attachmentChanges() != news;
    }

    /// @param at the cache directory; if empty, the common tree's directory
    private Optional<Duration> fill(DatasetState state, Optional<Path> at, BooleanSupplier stop) {
        ReplicaPolicy policy = settings.pace();
        DatasetImage image = state.image().orElseThrow();
        if (!takeFill(stop)) {
            return Optional.of(Duration.ZERO);
        }
        try {
            String name = "manifest of " + state.digest();
            ManifestOutline outline = calls.change(name, policy.callLimit(), image::readOutline);
            CacheDirectories.checkSize(state.digest(), outline.imageBytes());
            List<Path> homes = state.preferredCaches();
            CacheDirectory directory = at.map(cacheDirectories::at)
                    .orElseGet(() -> cacheDirectories.place(
                            state.digest(), outline.imageBytes(), settings.placement(), homes, evictor));
            if (at.isEmpty() && !state.setPreferredCacheUnlessChanged(homes, directory.path())) {
                return Optional.of(Duration.ZERO);
            }
            CachedReplica replica = directory.replica(state.digest());
            Manifest manifest = calls.change(name, policy.callLimit(), image::readManifest);
            ReplicaFill fill = new ReplicaFill(
                    directory,
                    replica,
                    image.image(),
                    manifest,
                    new ReplicaFill.Terms(
                            calls,
                            policy.callLimit(),
                            state.lanes(),
                            fillBandwidth,
                            policy.diskRetry(),
                            stop,
                            counts.filledBytes()));
            state.filling(true);
            long failures = directory.failures();
            evictor.makeRoom(directory, state.digest(), manifest.imageBytes(), fill::begin);
            long begun = System.nanoTime();
            if (fill.run()) {
                state.checked(replica, failures);
                state.problem(Optional.empty());
                counts.fills().increment();
                LOG.atInfo()
                        .addKeyValue("dataset", state.digest())
                        .addKeyValue("cache", directory.path())
                        .addKeyValue("bytes", manifest.imageBytes())
                        .addKeyValue("duration_ms", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun))
                        .log("filled a replica");
            }
            return Optional.of(Duration.ZERO);
        } catch (DriverException | ErrnoException | UncheckedIOException e) {
            counts.failedFills().increment();
            throw e;
        } finally {
            state.filling(false);
            fills.release();
        }
    }

    /// Waits for one of the `fillsAtOnce` slots.
    private boolean takeFill(BooleanSupplier stop) {
        try {
            while (!stop.getAsBoolean()) {
                if (fills.tryAcquire(settings.pace().firstRetry().toMillis(), TimeUnit.MILLISECONDS)) {
                    return true;
                }
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        return false;
    }
}
