package dev.siphon.node.replica;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// Decides the next step for a dataset, from what is and what is wanted. Touches nothing, so its test tries every
/// combination that can occur.
///
/// Readers come first: leave a failing disk or a corrupt replica, then read a better replica. A scrub comes before a
/// fill, which may fail for days.
final class ReplicaDecision {
    private ReplicaDecision() {}

    static ReplicaStep decide(ObservedReplicas is, WantedReplicas wanted) {
        return abandon(is)
                .or(() -> serve(is, wanted))
                .or(() -> scrub(is))
                .or(() -> fill(is, wanted))
                .orElseGet(() -> await(is, wanted));
    }

    /// Leaves what must not be read, first what is read. No disk is asked before that: it might not answer.
    private static Optional<ReplicaStep> abandon(ObservedReplicas is) {
        Optional<ReplicaStep> failing = is.read().stream()
                .filter(cache -> !cache.isReadable())
                .<ReplicaStep>map(cache -> new ReplicaStep.Abandon(cache.path()))
                .findFirst();
        return failing.or(() -> discard(is.read()))
                .or(() -> discard(is.caches()))
                .or(() -> is.isInspected() ? Optional.empty() : Optional.of(new ReplicaStep.Inspect()));
    }

    private static Optional<ReplicaStep> discard(List<ObservedReplicas.Cache> caches) {
        return caches.stream()
                .filter(cache -> cache.isReadable() && cache.isCorrupt())
                .<ReplicaStep>map(cache -> new ReplicaStep.Discard(cache.path()))
                .findFirst();
    }

    /// Switches a tree to a better replica, or verifies a requested replica that has no tree.
    private static Optional<ReplicaStep> serve(ObservedReplicas is, WantedReplicas wanted) {
        List<ObservedReplicas.Cache> whole = is.whole();
        for (ImageMount tree : is.trees()) {
            Optional<ObservedReplicas.Cache> better = better(tree, homes(is, wanted, tree), whole);
            if (better.isPresent()) {
                return better.map(cache ->
                        checkFirst(is, cache).orElseGet(() -> new ReplicaStep.Switch(tree.key(), cache.path())));
            }
        }
        if (!is.trees().isEmpty() || !wanted.isAny()) {
            return Optional.empty();
        }
        return whole.stream()
                .min(Comparator.comparing(cache -> !wanted.preferred().contains(cache.path())))
                .flatMap(cache -> checkFirst(is, cache).or(() -> meet(wanted, cache.path())));
    }

    /// Returns the directories in which a tree's replica should be.
    private static List<Path> homes(ObservedReplicas is, WantedReplicas wanted, ImageMount tree) {
        return tree.key().isCommon()
                ? wanted.preferred()
                : is.caches().stream()
                        .filter(cache -> cache.dedicated().equals(tree.key()))
                        .map(ObservedReplicas.Cache::path)
                        .toList();
    }

    /// Returns the replica that a tree should read instead of its current source: one in its home, or any one
    /// instead of CephFS.
    private static Optional<ObservedReplicas.Cache> better(
            ImageMount tree, List<Path> homes, List<ObservedReplicas.Cache> whole) {
        if (homes.stream().anyMatch(home -> ObservedReplicas.reads(tree, home))) {
            return Optional.empty();
        }
        return whole.stream()
                .filter(cache -> homes.contains(cache.path()))
                .findFirst()
                .or(() -> tree.place() instanceof ReadLocation.Remote
                        ? whole.stream().findFirst()
                        : Optional.empty());
    }

    /// Returns the check that a replica needs before it is used; empty if it is verified.
    private static Optional<ReplicaStep> checkFirst(ObservedReplicas is, ObservedReplicas.Cache cache) {
        return is.isVerified(cache) ? Optional.empty() : Optional.of(new ReplicaStep.Verify(cache.path()));
    }

    private static Optional<ReplicaStep> meet(WantedReplicas wanted, Path cache) {
        return wanted.met(cache).equals(wanted) ? Optional.empty() : Optional.of(new ReplicaStep.Meet(cache));
    }

    /// Verifies each replica in use once per period.
    private static Optional<ReplicaStep> scrub(ObservedReplicas is) {
        return is.read().stream()
                .filter(cache -> !is.isVerified(cache))
                .<ReplicaStep>map(cache -> new ReplicaStep.Scrub(cache.path()))
                .findFirst();
    }

    /// Fills the replica that is requested and missing.
    private static Optional<ReplicaStep> fill(ObservedReplicas is, WantedReplicas wanted) {
        if (is.caches().isEmpty() || !is.imageKnown()) {
            return Optional.empty(); // the next attach provides the image's path
        }
        List<Path> whole = is.whole().stream().map(ObservedReplicas.Cache::path).toList();
        Optional<ReplicaStep> met =
                whole.stream().filter(wanted.at()::contains).findFirst().flatMap(cache -> meet(wanted, cache));
        if (met.isPresent()) {
            return met;
        }
        if (isCommonWanted(is, wanted, whole)) {
            return Optional.of(
                    is.now().isBefore(wanted.settlesAt())
                            ? new ReplicaStep.WaitUntil(wanted.settlesAt())
                            : new ReplicaStep.FillCommon(whole));
        }
        return usable(is).filter(wanted.at()::contains).findFirst().map(ReplicaStep.FillAt::new);
    }

    private static boolean isCommonWanted(ObservedReplicas is, WantedReplicas wanted, List<Path> whole) {
        List<Path> homes = usable(is).filter(wanted.preferred()::contains).toList();
        return wanted.anywhere()
                && (homes.isEmpty() ? whole.isEmpty() : homes.stream().noneMatch(whole::contains));
    }

    private static Stream<Path> usable(ObservedReplicas is) {
        return is.caches().stream()
                .filter(cache -> cache.disk() == ObservedReplicas.Disk.USABLE)
                .map(ObservedReplicas.Cache::path);
    }

    /// Waits for the next scrub, or for a disk that is tried again.
    private static ReplicaStep await(ObservedReplicas is, WantedReplicas wanted) {
        Stream<Instant> scrubs = is.read().stream().map(is::verifiedUntil);
        Stream<Instant> disks = is.caches().stream()
                .filter(cache -> isMissed(is, wanted, cache))
                .map(ObservedReplicas.Cache::retryAt);
        return Stream.concat(scrubs, disks)
                .min(Comparator.naturalOrder())
                .<ReplicaStep>map(ReplicaStep.WaitUntil::new)
                .orElseGet(ReplicaStep.Nothing::new);
    }

    /// Returns whether a disk that is not usable would be used if it were: for a requested replica, or for one that a
    /// tree would read instead of its current source.
    private static boolean isMissed(ObservedReplicas is, WantedReplicas wanted, ObservedReplicas.Cache cache) {
        return switch (cache.disk()) {
            case USABLE -> false;
            case FULL -> wanted.at().contains(cache.path());
            case FAILING ->
                wanted.at().contains(cache.path())
                        || is.trees().stream()
                                .anyMatch(tree -> tree.place() instanceof ReadLocation.Remote
                                        || homes(is, wanted, tree).contains(cache.path()));
        };
    }
}
