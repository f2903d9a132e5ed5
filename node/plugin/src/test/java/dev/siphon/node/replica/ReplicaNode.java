package dev.siphon.node.replica;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.fuse.FuseChildren;
import dev.siphon.node.linux.LoopDevice;
import dev.siphon.node.linux.LoopStatus;
import dev.siphon.node.linux.Workplace;
import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// Settings of a node for tests of replicas, and waits for its background work.
final class ReplicaNode {
    static final long LIMIT = 1L << 30;

    /// Fills in parallel, and retries each failure soon.
    static final ReplicaPolicy FAST = new ReplicaPolicy(
            4,
            2,
            OptionalLong.empty(),
            Duration.ofDays(1),
            OptionalLong.empty(),
            Duration.ofSeconds(20),
            Duration.ofSeconds(20),
            Duration.ofMillis(20),
            Duration.ofMillis(200),
            Duration.ofMillis(500));

    private static final long DEADLINE_SECONDS = 60;

    private ReplicaNode() {}

    /// Returns [#FAST] with fills limited to this many chunks per second.
    static ReplicaPolicy slowly(double chunksPerSecond) {
        return new ReplicaPolicy(
                FAST.chunksInFlight(),
                FAST.fillsAtOnce(),
                OptionalLong.of((long) (chunksPerSecond * (4 << 20))),
                FAST.scrubPeriod(),
                FAST.scrubBytesPerSecond(),
                FAST.callLimit(),
                FAST.patience(),
                FAST.firstRetry(),
                FAST.longestRetry(),
                FAST.diskRetry());
    }

    /// Returns [#FAST] with a scrub of attached replicas every `period`, and no retry of failed disks.
    static ReplicaPolicy scrubbing(Duration period) {
        return new ReplicaPolicy(
                FAST.chunksInFlight(),
                FAST.fillsAtOnce(),
                FAST.fillBytesPerSecond(),
                period,
                FAST.scrubBytesPerSecond(),
                FAST.callLimit(),
                FAST.patience(),
                FAST.firstRetry(),
                FAST.longestRetry(),
                Duration.ofMinutes(10));
    }

    /// Returns a node's default policy, with another time before a failed disk is retried.
    static ReplicaPolicy usual(Duration diskRetry) {
        ReplicaPolicy usual = ReplicaPolicy.usual();
        return new ReplicaPolicy(
                usual.chunksInFlight(),
                usual.fillsAtOnce(),
                usual.fillBytesPerSecond(),
                usual.scrubPeriod(),
                usual.scrubBytesPerSecond(),
                usual.callLimit(),
                usual.patience(),
                usual.firstRetry(),
                usual.longestRetry(),
                diskRetry);
    }

    /// Returns a policy with this patience for file systems, and fills of 4 chunks per second.
    static ReplicaPolicy patient(Duration limit) {
        return new ReplicaPolicy(
                FAST.chunksInFlight(),
                FAST.fillsAtOnce(),
                OptionalLong.of(16 << 20),
                FAST.scrubPeriod(),
                FAST.scrubBytesPerSecond(),
                limit,
                limit,
                FAST.firstRetry(),
                FAST.longestRetry(),
                FAST.diskRetry());
    }

    static ReplicaSettings settings(Path state, ReplicaPolicy policy, CacheDirectoryLimits... caches) {
        return settings(state, policy, GpuProximity.UNKNOWN, caches);
    }

    static ReplicaSettings settings(
            Path state, ReplicaPolicy policy, GpuProximity near, CacheDirectoryLimits... caches) {
        return new ReplicaSettings(
                state, List.of(caches), ReplicaPlacement.mostFree(), policy, near, ErofsSelection.ofThisNode());
    }

    /// Returns settings with one cache directory that has room for everything.
    static ReplicaSettings settings(Workplace workplace, ReplicaPolicy policy) {
        return settings(workplace.path("state"), policy, new CacheDirectoryLimits(workplace.path("cache"), LIMIT, 100));
    }

    /// A node whose kernel has no EROFS.
    static final ErofsSelection FUSE = new ErofsSelection(() -> false, () -> true, new FuseChildren());

    /// Returns the settings with another way to read EROFS.
    static ReplicaSettings with(ErofsSelection erofs, ReplicaSettings settings) {
        return new ReplicaSettings(
                settings.state(), settings.caches(), settings.placement(), settings.pace(), settings.near(), erofs);
    }

    static void await(Supplier<String> what, BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("not within " + DEADLINE_SECONDS + " s: " + what.get());
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    static Optional<ReplicaStatus> status(Replicas replicas, Digest dataset) {
        return replicas.list().stream()
                .filter(status -> status.digest().equals(dataset))
                .findFirst();
    }

    static void awaitStatus(
            Replicas replicas, Digest dataset, java.util.function.Predicate<Optional<ReplicaStatus>> wanted) {
        await(() -> "status of " + dataset + "; all: " + replicas.list(), () -> wanted.test(status(replicas, dataset)));
    }

    /// Waits until the dataset is read from a replica in `cache`.
    static void awaitLocal(Replicas replicas, Digest dataset, Path cache) {
        awaitStatus(
                replicas,
                dataset,
                status -> status.flatMap(ReplicaStatus::attached)
                        .filter(attached -> attached.place().equals(new ReadLocation.Local(cache)))
                        .isPresent());
    }

    /// Returns the dataset's loop devices.
    static List<LoopStatus> devices(Digest dataset) {
        return LoopDevice.all(Set.of()).stream()
                .filter(status ->
                        status.tag().equals(ImageMountKey.anywhere(dataset).tag()))
                .toList();
    }

    /// Waits until the kernel has freed the dataset's loop devices.
    static void awaitNoDevice(Digest dataset) {
        await(() -> "no device: " + devices(dataset), () -> devices(dataset).isEmpty());
    }
}
