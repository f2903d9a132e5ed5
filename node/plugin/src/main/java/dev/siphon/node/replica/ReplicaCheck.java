package dev.siphon.node.replica;

import java.time.Duration;
import java.time.Instant;

/// What the last complete read of a replica found, in this run of the driver. The result counts only while the disk
/// has not failed since.
sealed interface ReplicaCheck {
    /// Returns until when the replica counts as verified.
    ///
    /// @param failures of its disk now
    /// @param period for how long a check counts
    default Instant verifiedUntil(long failures, Duration period) {
        return this instanceof Intact(Instant at, long before) && before == failures ? at.plus(period) : Instant.MIN;
    }

    /// The replica was not read completely yet.
    record Never() implements ReplicaCheck {}

    /// Every chunk matched the manifest.
    ///
    /// @param at when the read ended
    /// @param failures the failures of its disk when the read began, as in
    ///     [dev.siphon.node.replica.cache.CacheDirectory#failures]
    record Intact(Instant at, long failures) implements ReplicaCheck {}

    /// A chunk was wrong or unreadable.
    ///
    /// @param failures as in [Intact]
    record Corrupt(long failures) implements ReplicaCheck {}
}
