package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.replica.cache.Bandwidth;
import dev.siphon.node.replica.cache.CacheDirectory;
import dev.siphon.node.replica.cache.CachedReplica;
import dev.siphon.node.replica.cache.ChunkCheck;
import dev.siphon.node.replica.cache.Fill;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What is to be done next for a dataset, found anew each time from what is on the disks and what is attached: so it
/// does not matter after which step the driver was killed.
final class Tending {
    private static final Logger LOG = LoggerFactory.getLogger(Tending.class);
    private static final Bandwidth UNLIMITED = new Bandwidth(OptionalLong.empty());

    private final Caches caches;
    private final Swapping swapping;
    private final Room room;
    private final BlockingCalls calls;
    private final ReplicaSettings settings;
    private final Function<Digest, DatasetState> states;
    private final BooleanSupplier closed;
    private final ReplicaCounts counts;
    private final Semaphore fills;
    private final Bandwidth fillBandwidth;
    private final Bandwidth scrubBandwidth;

    Tending(
            Caches caches,
            Swapping swapping,
            Room room,
            BlockingCalls calls,
            ReplicaSettings settings,
            Function<Digest, DatasetState> states,
            BooleanSupplier closed,
            ReplicaCounts counts) {
        this.caches = caches;
        this.swapping = swapping;
        this.room = room;
        this.calls = calls;
        this.settings = settings;
        this.states = states;
        this.closed = closed;
        this.counts = counts;
        this.fills = new Semaphore(settings.pace().fillsAtOnce(), true);
        this.fillBandwidth = new Bandwidth(settings.pace().fillBytesPerSecond());
        this.scrubBandwidth = new Bandwidth(settings.pace().scrubBytesPerSecond());
    }

    /// Takes the next step.
    ///
    /// @return how long to wait before the one after it; empty if nothing is left to do until somebody asks
    /// @throws DriverException if it failed, and is to be tried again later
    Optional<Duration> step(DatasetState state) {
        if (state.isPaused() || !state.enter(settings.pace().callLimit())) {
            return Optional.of(settings.pace().firstRetry());
        }
        try {
            state.takeUse().ifPresent(at -> caches.use(state.digest(), at));
            if (state.servedFrom().isPresent()) {
                CacheDirectory directory = caches.at(state.servedFrom().get());
                return Optional.of(keep(state, directory, directory.replica(state.digest())));
            }
            List<CachedReplica> whole = caches.whole(state.digest());
            if (!whole.isEmpty()) {
                return adopt(state, whole.getFirst());
            }
            return state.isWanted() ? fill(state) : Optional.empty();
        } finally {
            state.leave();
        }
    }

    /// Looks after the replica behind a tree: checked again once a period, and left when it or its disk is bad.
    private Duration keep(DatasetState state, CacheDirectory directory, CachedReplica replica) {
        Optional<String> disk =
                directory.trouble().filter(CacheDirectory.Trouble::unreadable).map(CacheDirectory.Trouble::why);
        if (disk.isPresent()) {
            swapping.back(state);
            state.problem(disk);
            state.want(false);
            return Duration.ZERO;
        }
        if (state.damage().isEmpty()) {
            Duration left = untilCheck(state, replica);
            if (left.isPositive() || !isRight(state, replica, Optional.of(scrubBandwidth))) {
                return left.isPositive() ? left : Duration.ZERO;
            }
            return untilCheck(state, replica);
        }
        state.want(false);
        discard(state, directory, replica);
        return Duration.ZERO;
    }

    /// Throws a bad replica away. Where even that fails, it is the disk that is bad.
    private void discard(DatasetState state, CacheDirectory directory, CachedReplica replica) {
        try {
            room.remove(state, replica);
        } catch (ErrnoException | UncheckedIOException e) {
            directory.failing(
                    "the cache directory " + directory.path() + " fails: " + e.getMessage(),
                    settings.pace().diskRetry());
        }
        state.damaged(Optional.empty());
    }

    private Duration untilCheck(DatasetState state, CachedReplica replica) {
        return state.lastCheck(replica)
                .map(last -> Duration.between(
                        Instant.now(), last.plus(settings.pace().scrubPeriod())))
                .orElse(Duration.ZERO);
    }

    /// Takes a whole replica into use. One that this run of the driver has not read within a period is
    /// read before it is trusted.
    private Optional<Duration> adopt(DatasetState state, CachedReplica replica) {
        if (!untilCheck(state, replica).isPositive()) {
            if (state.attached().isEmpty() && !state.isWanted()) {
                return Optional.empty(); // it is checked when somebody wants it
            }
            if (!isRight(state, replica, Optional.empty())) {
                if (state.damage().isPresent()) {
                    state.want(false);
                    discard(state, caches.at(replica.cache()), replica);
                }
                return Optional.of(Duration.ZERO);
            }
        }
        state.unwant();
        if (state.attached().isEmpty()) {
            return Optional.empty();
        }
        swapping.to(state, replica);
        state.problem(Optional.empty());
        return Optional.of(Duration.ZERO);
    }

    /// Reads all of a replica. If it is bad, that is noted as damage; if it could not be read to its end, nothing is.
    private boolean isRight(DatasetState state, CachedReplica replica, Optional<Bandwidth> scrub) {
        Optional<String> damage = Optional.empty();
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
                    () -> isStopped(state) || !check.isClean());
            if (!check.isClean()) {
                damage = Optional.of("chunk " + check.damaged().nextSetBit(0) + " of " + replica.image()
                        + " is not what its manifest says");
            } else if (all) {
                state.checked(replica);
                return true;
            }
        } catch (DriverException.BackendFault | ErrnoException | UncheckedIOException e) {
            damage = Optional.of(String.valueOf(e.getMessage()));
        }
        damage.ifPresent(why -> {
            LOG.atError().addKeyValue("dataset", state.digest()).log("a replica is damaged: {}", why);
            state.unchecked(replica);
            state.problem(Optional.of(why));
            state.damaged(Optional.of(why));
        });
        return false;
    }

    private boolean isStopped(DatasetState state) {
        return closed.getAsBoolean() || state.isPaused();
    }

    private Optional<Duration> fill(DatasetState state) {
        Pace pace = settings.pace();
        DatasetImage image = state.image().orElse(null);
        if (image == null || settings.caches().isEmpty()) {
            return Optional.empty(); // whoever attaches it next tells where it is
        }
        if (!takeFill(state)) {
            return Optional.of(Duration.ZERO);
        }
        try {
            Manifest manifest = calls.change("manifest of " + state.digest(), pace.callLimit(), image::readManifest);
            CacheDirectory directory = caches.place(state.digest(), manifest.imageBytes(), settings.placement());
            CachedReplica replica = directory.replica(state.digest());
            Fill fill = new Fill(
                    directory,
                    replica,
                    image.image(),
                    manifest,
                    new Fill.Terms(
                            calls,
                            pace.callLimit(),
                            state.lanes(),
                            fillBandwidth,
                            pace.diskRetry(),
                            () -> isStopped(state) || !state.isWanted(),
                            counts.filledBytes()));
            state.filling(true);
            room.make(directory, state.digest(), manifest.imageBytes(), states, fill::begin);
            long begun = System.nanoTime();
            if (fill.run()) {
                state.checked(replica);
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

    /// Waits for a place among the fills at once.
    private boolean takeFill(DatasetState state) {
        try {
            while (!isStopped(state) && state.isWanted()) {
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
