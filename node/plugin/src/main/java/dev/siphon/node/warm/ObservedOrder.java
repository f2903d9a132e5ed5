package dev.siphon.node.warm;

import dev.siphon.csi.VolumeId.DatasetVolume;
import dev.siphon.csi.dataset.DatasetReplica.Order;
import dev.siphon.csi.dataset.DatasetReplica.Question;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.EncryptedSecret;

/// What is known of one order when its next step is decided.
///
/// @param hasCache whether the node has a cache directory
/// @param now the moment, by [System#nanoTime]
record ObservedOrder(Wanted wanted, boolean hasCache, Copy copy, Work work, long now) {
    /// What the controller wants.
    sealed interface Wanted {
        record Ordered(Order order) implements Wanted {}

        /// The order is deleted.
        record Withdrawn() implements Wanted {}

        /// The process ends; the next one receives the same order.
        record Unattended() implements Wanted {}

        /// Returns whether a replica of this volume is wanted.
        default boolean isReplicaOf(DatasetVolume volume) {
            return this instanceof Ordered(var order)
                    && order.wanted()
                    && order.volume().equals(volume);
        }
    }

    /// What the node has of the ordered volume.
    sealed interface Copy {
        /// Returns the report about it.
        Report report();

        record Incomplete(Report report) implements Copy {}

        /// A whole replica, verified or not.
        record Whole(Report report, Digest digest) implements Copy {}
    }

    /// What the worker has done so far, all of it for one volume.
    sealed interface Work {
        record None() implements Work {}

        /// Has asked the controller for the key.
        ///
        /// @param end deadline of the answer, by [System#nanoTime]
        record Asked(DatasetVolume volume, Question question, EncryptedSecret.Reader reader, long end)
                implements Work {}

        /// Holds something on the node.
        sealed interface Held extends Work {
            DatasetVolume volume();

            Digest digest();

            /// Returns the work after a fill, which an order that changed may have interrupted.
            default Held filled(boolean isWhole) {
                return isWhole ? new Verified(volume(), digest()) : this;
            }
        }

        /// Has mounted the image.
        record Mounted(DatasetVolume volume, Digest digest) implements Held {}

        /// Keeps the replica from eviction, without the image.
        record Kept(DatasetVolume volume, Digest digest) implements Held {}

        /// Keeps the replica, which was verified for this order.
        record Verified(DatasetVolume volume, Digest digest) implements Held {}

        /// Returns whether it is for another volume.
        default boolean isOfOther(DatasetVolume wanted) {
            return switch (this) {
                case None _ -> false;
                case Asked asked -> !asked.volume().equals(wanted);
                case Held held -> !held.volume().equals(wanted);
            };
        }
    }
}
