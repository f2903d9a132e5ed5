package dev.siphon.node.replica;

import java.nio.file.Path;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// What is wanted of one dataset's replicas.
///
/// @param anywhere whether a replica for the common tree is wanted, or a check of the one that is there
/// @param unattached whether `anywhere` stays when the last image mount is gone
/// @param at the cache directories in which a replica is wanted for their own trees
/// @param preferred the cache directories for the common tree's replica; empty if any will do, or none is known yet
/// @param settlesAt until when the first fill waits for a preference
record WantedReplicas(boolean anywhere, boolean unattached, Set<Path> at, List<Path> preferred, Instant settlesAt) {
    static final WantedReplicas NONE = new WantedReplicas(false, false, Set.of(), List.of(), Instant.MIN);

    WantedReplicas {
        at = Set.copyOf(at);
        preferred = List.copyOf(preferred);
    }

    boolean isAny() {
        return anywhere || !at.isEmpty();
    }

    /// Requests a replica; `alsoUnattached` keeps the request when the last image mount is gone.
    WantedReplicas requested(boolean alsoUnattached) {
        return new WantedReplicas(true, unattached || alsoUnattached, at, preferred, settlesAt);
    }

    /// Requests a replica in `cache`, even if another directory has one.
    WantedReplicas requestedAt(Path cache) {
        Set<Path> more = new HashSet<>(at);
        more.add(cache);
        return new WantedReplicas(anywhere, unattached, more, preferred, settlesAt);
    }

    /// Ends [#requestedAt].
    WantedReplicas withoutAt(Path cache) {
        Set<Path> fewer = new HashSet<>(at);
        fewer.remove(cache);
        return new WantedReplicas(anywhere, unattached, fewer, preferred, settlesAt);
    }

    /// Ends the requests that a verified replica in `cache` meets.
    WantedReplicas met(Path cache) {
        WantedReplicas rest = withoutAt(cache);
        return preferred.isEmpty() || preferred.contains(cache)
                ? new WantedReplicas(false, false, rest.at, preferred, settlesAt)
                : rest;
    }

    /// Ends all requests, because the replicas are evicted.
    WantedReplicas evicted() {
        return new WantedReplicas(false, false, Set.of(), List.of(), settlesAt);
    }

    /// Ends the requests that were made for image mounts, because the last one is gone.
    WantedReplicas detached() {
        return new WantedReplicas(unattached, unattached, at, List.of(), Instant.MIN);
    }

    /// Sets the directory of the common tree's replica.
    WantedReplicas preferring(Path cache) {
        return new WantedReplicas(anywhere, unattached, at, List.of(cache), Instant.MIN);
    }

    /// Moves the replica of the common tree to `cache`, and requests it there.
    WantedReplicas movedTo(Path cache) {
        return preferring(cache).requested(false);
    }

    /// Prefers one of `nearest` for the first replica; an empty list means no preference.
    WantedReplicas nearest(List<Path> nearest) {
        return new WantedReplicas(anywhere, unattached, at, preferred.isEmpty() ? nearest : preferred, Instant.MIN);
    }

    /// Delays the first fill to `until` at the latest, because a pod is about to name the best directories.
    WantedReplicas unsettled(Instant until) {
        return new WantedReplicas(anywhere, unattached, at, preferred, until);
    }
}
