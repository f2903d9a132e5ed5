package dev.siphon.controller.volume;

import dev.siphon.csi.SnapshotId;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/// A snapshot as callers see it.
///
/// @param sizeBytes the minimum size of a volume from it; empty if unknown
/// @param createdAt when it was taken
/// @param group the group snapshot it belongs to
/// @param ready whether it can be used; only one that is to be sealed may not be ready
public record SnapshotView(
        SnapshotId id, OptionalLong sizeBytes, Instant createdAt, Optional<GroupSnapshotId> group, boolean ready) {
    /// Returns this snapshot as ready, after it has become a sealed dataset.
    public SnapshotView sealed() {
        return new SnapshotView(id, sizeBytes, createdAt, group, true);
    }
}
