package dev.siphon.controller.volume;

import dev.siphon.csi.SnapshotId;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/// A snapshot as callers see it.
///
/// @param sizeBytes what a volume made from it must at least have; empty where that is not known
/// @param createdAt when it was taken
/// @param group the group of snapshots it belongs to
/// @param ready whether it can be used; only one that is to be a sealed dataset may not be
public record SnapshotView(
        SnapshotId id, OptionalLong sizeBytes, Instant createdAt, Optional<GroupSnapshotId> group, boolean ready) {
    /// The same when it has become a sealed dataset.
    public SnapshotView sealed() {
        return new SnapshotView(id, sizeBytes, createdAt, group, true);
    }
}
