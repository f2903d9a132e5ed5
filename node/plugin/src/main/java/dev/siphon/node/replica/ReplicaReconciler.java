package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.csi.dataset.ManifestOutline;
import dev.siphon.node.chunk.Bandwidth;
import dev.siphon.node.chunk.ChunkCheck;
import dev.siphon.node.chunk.ChunkWorkers;
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
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Takes the steps for a dataset that [ReplicaDecision] decides, each time from the disks and mounts. So the driver
/// may be killed after any step.
final class ReplicaReconciler {
    private static final Logger LOG = LoggerFactory.getLogger(ReplicaReconciler.class);
    private static final Bandwidth UNLIMITED = new Bandwidth(OptionalLong.empty());
    private static final Optional<Duration> AT_ONCE = Optional.of(Duration.ZERO);

    private final CacheDirectories cacheDirectories;
    private final BackingFileSwitcher switcher;
    private final ReplicaEvictor evictor;
    private final BlockingCalls calls;
    private final ReplicaSettings settings;
    private final BooleanSupplier closed;
    private final ReplicaCounts counts;
    private final Semaphore fills;
    private final FillTurns turns;
    private final Bandwidth fillBandwidth;
    private final Bandwidth scrubBandwidth;

    ReplicaReconciler(
            CacheDirectories cacheDirectories,
            BackingFileSwitcher switcher,
            ReplicaEvictor evictor,
            BlockingCalls calls,
            ReplicaSettings settings,
            BooleanSupplier closed,
            ReplicaCounts counts,
            FillTurns turns) {
        this.turns = turns;
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
            return step(state, Instant.now());
        } finally {
            state.unlock();
        }
    }

    /// Inspects and checks as long as necessary, and then changes one thing.
    ///
    /// @param begin the moment of observation for all of the step, so that a check made here counts, however short
    ///     the period is
    private Optional<Duration> step(DatasetState state, Instant begin) {
        Instant now = begin;
        Map<Path, ObservedReplicas.Files> files = Map.of();
        while (true) {
            Instant read = Instant.now();
            now = read.isBefore(now) ? read : now; // the clock may have been set back
            DatasetState.Moment moment = state.now();
            long news = moment.known().news();
            ReplicaStep next =
                    ReplicaDecision.decide(observe(state.digest(), moment.known(), now, files), moment.wanted());
            switch (next) {
                case ReplicaStep.Inspect _ -> files = inspect(state);
                case ReplicaStep.Meet(Path cache) -> state.want(wanted -> wanted.met(cache));
                case ReplicaStep.Verify(Path cache) -> {
                    if (!isChecked(state, cache, state.lanes(), UNLIMITED, () -> isStopped(state))) {
                        return AT_ONCE;
                    }
                    files = Map.of(); // that took long: the disks may have changed
                }
                case ReplicaStep.Scrub(Path cache) -> {
                    if (!isChecked(state, cache, state.scrubLane(), scrubBandwidth, () -> isOver(state, news))) {
                        return AT_ONCE;
                    }
                    files = Map.of();
                }
                case ReplicaStep.Abandon(Path cache) -> {
                    abandon(state, cacheDirectories.at(cache));
                    return AT_ONCE;
                }
                case ReplicaStep.Discard(Path cache) -> {
                    discard(state, cacheDirectories.at(cache));
                    return AT_ONCE;
                }
                case ReplicaStep.Switch(ImageMountKey tree, Path cache) -> {
                    state.want(wanted -> wanted.met(cache));
                    switcher.to(state, tree, cacheDirectories.at(cache).replica(state.digest()));
                    state.know(known -> known.withProblem(Optional.empty()));
                    return AT_ONCE;
                }
                case ReplicaStep.FillCommon(List<Path> whole) -> {
                    fillCommon(state, news, whole);
                    return AT_ONCE;
                }
                case ReplicaStep.FillAt(Path cache) -> {
                    fillAt(state, news, cache);
                    return AT_ONCE;
                }
                case ReplicaStep.WaitUntil(Instant end) -> {
                    Duration left = Duration.between(Instant.now(), end);
                    return left.isPositive() ? Optional.of(left) : AT_ONCE;
                }
                case ReplicaStep.Nothing _ -> {
                    return Optional.empty();
                }
            }
        }
    }

    private ObservedReplicas observe(
            Digest dataset, DatasetFacts known, Instant now, Map<Path, ObservedReplicas.Files> files) {
        List<ObservedReplicas.Cache> caches = cacheDirectories.directories().stream()
                .map(directory -> observe(
                        dataset, known, directory, files.getOrDefault(directory.path(), ObservedReplicas.Files.UNSEEN)))
                .toList();
        return new ObservedReplicas(
                now,
                settings.pace().scrubPeriod(),
                caches,
                known.trees(),
                known.image().isPresent());
    }

    private static ObservedReplicas.Cache observe(
            Digest dataset, DatasetFacts known, CacheDirectory directory, ObservedReplicas.Files files) {
        Optional<CacheDirectory.Trouble> trouble = directory.trouble();
        return new ObservedReplicas.Cache(
                directory.path(),
                ImageMountKey.at(dataset, directory.path()),
                trouble.map(ReplicaReconciler::disk).orElse(ObservedReplicas.Disk.USABLE),
                trouble.map(CacheDirectory.Trouble::until).orElse(Instant.MIN),
                directory.failures(),
                files,
                known.check(directory.path()));
    }

    private static ObservedReplicas.Disk disk(CacheDirectory.Trouble trouble) {
        return trouble.unreadable() ? ObservedReplicas.Disk.FAILING : ObservedReplicas.Disk.FULL;
    }

    /// Looks at each readable disk. A disk that is readable only afterwards stays unseen.
    private Map<Path, ObservedReplicas.Files> inspect(DatasetState state) {
        cacheDirectories.writeUse(state.digest());
        List<Path> readable = cacheDirectories.directories().stream()
                .filter(CacheDirectory::isReadable)
                .map(CacheDirectory::path)
                .toList();
        List<Path> whole = cacheDirectories.whole(state.digest()).stream()
                .map(CachedReplica::cache)
                .toList();
        return readable.stream()
                .collect(Collectors.toMap(
                        Function.identity(),
                        cache ->
                                whole.contains(cache) ? ObservedReplicas.Files.WHOLE : ObservedReplicas.Files.MISSING));
    }

    private void abandon(DatasetState state, CacheDirectory directory) {
        switcher.back(state, directory.path());
        Optional<String> why = directory.trouble().map(CacheDirectory.Trouble::why);
        state.know(known -> known.withProblem(why));
        state.request(false);
    }

    /// Removes a corrupt replica. If that fails too, the disk is at fault.
    private void discard(DatasetState state, CacheDirectory directory) {
        state.requestInsteadOf(directory.path());
        try {
            evictor.remove(state, directory.replica(state.digest()));
        } catch (ErrnoException | UncheckedIOException e) {
            cacheDirectories.failing(directory, String.valueOf(e.getMessage()));
            state.know(known -> known.withoutCheck(directory.path()));
        }
    }

    /// Reads a whole replica, and records whether it is intact or corrupt, unless it was stopped earlier.
    ///
    /// @param stop whether to stop early
    /// @return whether there is a result, and it counts
    private boolean isChecked(
            DatasetState state, Path cache, ChunkWorkers workers, Bandwidth bandwidth, BooleanSupplier stop) {
        CacheDirectory directory = cacheDirectories.at(cache);
        CachedReplica replica = directory.replica(state.digest());
        long failures = directory.failures();
        try {
            Manifest manifest = calls.check(
                    "cache " + cache + " of " + state.digest(),
                    "manifest of " + state.digest() + " in " + cache,
                    settings.pace().callLimit(),
                    replica::manifest);
            ChunkCheck check = new ChunkCheck(replica.image(), manifest);
            boolean all = check.run(
                    ChunkCheck.all(manifest), workers, bandwidth, () -> stop.getAsBoolean() || !check.isClean());
            if (!check.isClean()) {
                markCorrupt(
                        state,
                        cache,
                        failures,
                        "chunk " + check.damaged().nextSetBit(0) + " of " + replica.image()
                                + " is not what its manifest says");
            } else if (all) {
                ReplicaCheck intact = new ReplicaCheck.Intact(Instant.now(), failures);
                state.know(known -> known.withCheck(cache, intact));
            } else {
                return false;
            }
        } catch (DriverException.BackendFault | ErrnoException | UncheckedIOException e) {
            markCorrupt(state, cache, failures, String.valueOf(e.getMessage()));
        }
        return directory.failures() == failures;
    }

    private static void markCorrupt(DatasetState state, Path cache, long failures, String why) {
        LOG.atError().addKeyValue("dataset", state.digest()).log("a replica is corrupt: {}", why);
        state.know(known -> known.withProblem(Optional.of(why)).withCheck(cache, new ReplicaCheck.Corrupt(failures)));
    }

    /// Returns whether to stop long work. Readers on a failing disk come first.
    private boolean isStopped(DatasetState state) {
        return closed.getAsBoolean() || state.isPaused() || isReadFromFailing(state);
    }

    private boolean isReadFromFailing(DatasetState state) {
        return state.known().servedFrom().stream()
                .anyMatch(cache -> !cacheDirectories.at(cache).isReadable());
    }

    /// Returns whether to stop, also because of a new image mount: it may use an existing replica, and a fill takes
    /// long.
    private boolean isOver(DatasetState state, long news) {
        return isStopped(state) || state.known().news() != news;
    }

    private void fillAt(DatasetState state, long news, Path cache) {
        try {
            fill(
                    state,
                    Optional.of(cache),
                    () -> isOver(state, news) || !state.wanted().at().contains(cache));
        } catch (DriverException.QuotaExhausted e) {
            LOG.atInfo()
                    .addKeyValue("dataset", state.digest())
                    .addKeyValue("cache", cache)
                    .addKeyValue("reason", e.getMessage())
                    .log("no replica is filled there: the dataset is read from where it is");
            state.want(wanted -> wanted.withoutAt(cache));
        }
    }

    private void fillCommon(DatasetState state, long news, List<Path> whole) {
        try {
            fill(
                    state,
                    Optional.empty(),
                    () -> isOver(state, news) || !state.wanted().anywhere());
        } catch (DriverException.QuotaExhausted e) {
            if (whole.isEmpty()) {
                throw e;
            }
            state.preferUnlessNews(news, whole.getFirst());
        }
    }

    /// @param at the cache directory; if empty, the common tree's directory
    private void fill(DatasetState state, Optional<Path> at, BooleanSupplier stop) {
        if (!cacheDirectories.whole(state.digest()).isEmpty()) {
            fillNow(state, at, stop); // a second replica, which the cluster does not count
            return;
        }
        try {
            if (turns.await(state.digest(), stop, stage -> state.know(known -> known.withFill(stage)))) {
                fillNow(state, at, () -> stop.getAsBoolean() || turns.isLost(state.digest()));
            }
        } finally {
            turns.end(state.digest());
        }
    }

    private void fillNow(DatasetState state, Optional<Path> at, BooleanSupplier stop) {
        if (!takeFill(stop)) {
            return;
        }
        state.know(known -> known.withFill(new FillStage.Running()));
        try {
            copy(state, at, stop);
            state.know(known -> known.withFill(new FillStage.Idle()));
        } catch (RuntimeException failed) {
            counts.failedFills().increment();
            turns.failed(state.digest());
            state.know(known -> known.withFill(new FillStage.Failed(String.valueOf(failed.getMessage()))));
            throw failed;
        } finally {
            evictor.releaseFor(state.digest(), this);
            fills.release();
        }
    }

    private void copy(DatasetState state, Optional<Path> at, BooleanSupplier stop) {
        ReplicaPolicy policy = settings.pace();
        DatasetImage image = state.known().image().orElseThrow();
        String name = "manifest of " + state.digest();
        ManifestOutline outline = calls.change(name, policy.callLimit(), image::readOutline);
        CacheDirectories.checkSize(state.digest(), outline.imageBytes());
        List<Path> homes = state.wanted().preferred();
        CacheDirectory directory = at.map(cacheDirectories::at)
                .orElseGet(() -> cacheDirectories.place(
                        state.digest(), outline.imageBytes(), settings.placement(), homes, evictor));
        if (at.isEmpty() && !state.preferUnlessChanged(homes, directory.path())) {
            return;
        }
        CachedReplica replica = directory.replica(state.digest());
        if (calls.change(name, policy.callLimit(), replica::isWhole)) {
            return; // it appeared since the inspection: the next step verifies it
        }
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
        evictor.keepFor(state.digest(), this);
        long failures = directory.failures();
        evictor.makeRoom(directory, state.digest(), manifest.imageBytes(), fill::begin);
        long begun = System.nanoTime();
        if (fill.run()) {
            ReplicaCheck intact = new ReplicaCheck.Intact(Instant.now(), failures);
            state.know(known -> known.withProblem(Optional.empty()).withCheck(directory.path(), intact));
            counts.fills().increment();
            LOG.atInfo()
                    .addKeyValue("dataset", state.digest())
                    .addKeyValue("cache", directory.path())
                    .addKeyValue("bytes", manifest.imageBytes())
                    .addKeyValue("duration_ms", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun))
                    .log("filled a replica");
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
