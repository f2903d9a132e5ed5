package dev.siphon.node.replica;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/// What is, for one dataset at one moment: its disks, its replicas, its trees.
///
/// @param now the moment
/// @param scrubPeriod how long a check counts
/// @param caches the node's cache directories, in the order of its settings
/// @param trees the image mounts, and where each is read from
/// @param imageKnown whether the path of the image on CephFS is known
record ObservedReplicas(
        Instant now, Duration scrubPeriod, List<Cache> caches, List<ImageMount> trees, boolean imageKnown) {
    ObservedReplicas {
        caches = List.copyOf(caches);
        trees = List.copyOf(trees);
    }

    /// The condition of a disk.
    enum Disk {
        /// No problem is known.
        USABLE,
        /// Takes no new replica; its replicas can be read.
        FULL,
        /// Nothing on it may be read.
        FAILING
    }

    /// What a disk has of the dataset. A partial replica counts as missing: only [CacheDirectories#place] looks for
    /// it.
    enum Files {
        /// Nobody has looked since the last step.
        UNSEEN,
        MISSING,
        WHOLE
    }

    /// One cache directory.
    ///
    /// @param dedicated the key of the tree that is dedicated to it, whether or not that is attached
    /// @param retryAt when the disk is tried again; counts only where it is not usable
    /// @param failures how often its disk has failed
    /// @param check the last check of the replica
    record Cache(
            Path path,
            ImageMountKey dedicated,
            Disk disk,
            Instant retryAt,
            long failures,
            Files files,
            ReplicaCheck check) {
        boolean isReadable() {
            return disk != Disk.FAILING;
        }

        /// Returns whether it has a replica that may be read once it is verified.
        boolean hasWhole() {
            return isReadable() && files == Files.WHOLE;
        }

        /// Returns whether the last check found a wrong chunk and the disk has not failed since: after a disk fault,
        /// the replica may be intact.
        boolean isCorrupt() {
            return check instanceof ReplicaCheck.Corrupt(long before) && before == failures;
        }

        /// Returns until when the replica counts as verified.
        Instant verifiedUntil(Duration scrubPeriod) {
            return check.verifiedUntil(failures, scrubPeriod);
        }
    }

    /// Returns the directories that have a whole replica.
    List<Cache> whole() {
        return caches.stream().filter(Cache::hasWhole).toList();
    }

    /// Returns the directories that a tree reads from.
    List<Cache> read() {
        return caches.stream().filter(cache -> isRead(cache.path())).toList();
    }

    boolean isRead(Path cache) {
        return trees.stream().anyMatch(tree -> reads(tree, cache));
    }

    static boolean reads(ImageMount tree, Path cache) {
        return tree.place() instanceof ReadLocation.Local(Path directory) && directory.equals(cache);
    }

    boolean isInspected() {
        return caches.stream().noneMatch(cache -> cache.isReadable() && cache.files() == Files.UNSEEN);
    }

    /// Returns whether the replica in `cache` was verified within the period, and its disk has not failed since.
    boolean isVerified(Cache cache) {
        return verifiedUntil(cache).isAfter(now);
    }

    Instant verifiedUntil(Cache cache) {
        return cache.verifiedUntil(scrubPeriod);
    }
}
