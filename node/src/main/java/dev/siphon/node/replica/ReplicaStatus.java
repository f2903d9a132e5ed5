package dev.siphon.node.replica;

import dev.siphon.csi.dataset.Digest;
import java.time.Instant;
import java.util.Optional;

/// A dataset on this node, for people, metrics and health.
///
/// @param bytes what it takes of a cache directory
/// @param attached its attachment, if it has one; what is behind it may for a while be something else than `state`
/// @param pinned whether its replica may not be evicted
/// @param lastUse when it was last attached or detached, if a cache directory knows
/// @param problem what went wrong last and has not gone right since
public record ReplicaStatus(
        Digest digest,
        ReplicaState state,
        long bytes,
        Optional<Attachment> attached,
        boolean pinned,
        Optional<Instant> lastUse,
        Optional<String> problem) {}
