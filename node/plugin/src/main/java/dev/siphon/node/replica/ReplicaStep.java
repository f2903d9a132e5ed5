package dev.siphon.node.replica;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;

/// The next step for a dataset's replicas and trees, as [ReplicaDecision] decides it and [ReplicaReconciler] takes
/// it, in the order in which the decision looks for them. A `cache` is a cache directory.
sealed interface ReplicaStep {
    /// Switch every tree that reads from `cache` to CephFS, because its disk fails; request a replica.
    record Abandon(Path cache) implements ReplicaStep {}

    /// Switch every tree that reads the corrupt replica in `cache` to CephFS, and remove it. If the dataset is
    /// attached, request another one; if `cache` has a tree of its own, there too.
    record Discard(Path cache) implements ReplicaStep {}

    /// Look which disks have a whole replica.
    record Inspect() implements ReplicaStep {}

    /// Read the whole replica in `cache` before it is used.
    record Verify(Path cache) implements ReplicaStep {}

    /// Switch a tree to the replica in `cache`, which meets the requests for it.
    record Switch(ImageMountKey tree, Path cache) implements ReplicaStep {}

    /// End the requests that the verified replica in `cache` meets.
    record Meet(Path cache) implements ReplicaStep {}

    /// Read the replica in `cache` again, slowly, while trees read it.
    record Scrub(Path cache) implements ReplicaStep {}

    /// Fill a replica for the common tree, in a directory that [CacheDirectories#place] chooses.
    ///
    /// @param whole the directories that have a whole replica already: if no directory has room, the common tree
    ///     stays on the first; if there is none, the step fails and is tried again
    record FillCommon(List<Path> whole) implements ReplicaStep {}

    /// Fill a replica in `cache` for its own tree; end that request if there is no room.
    record FillAt(Path cache) implements ReplicaStep {}

    /// Do nothing until then, or until a wake-up.
    record WaitUntil(Instant end) implements ReplicaStep {}

    /// Do nothing until a wake-up.
    record Nothing() implements ReplicaStep {}
}
