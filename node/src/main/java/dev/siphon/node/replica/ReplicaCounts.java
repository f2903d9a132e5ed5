package dev.siphon.node.replica;

import java.util.concurrent.atomic.LongAdder;

/// What was done with replicas in this run of the driver.
final class ReplicaCounts {
    private final LongAdder filledBytes = new LongAdder();
    private final LongAdder fills = new LongAdder();
    private final LongAdder failedFills = new LongAdder();
    private final LongAdder swapsToReplica = new LongAdder();
    private final LongAdder swapsToImage = new LongAdder();
    private final LongAdder evictions = new LongAdder();

    /// Bytes of images that were written to cache directories.
    LongAdder filledBytes() {
        return filledBytes;
    }

    /// Fills that made a whole replica.
    LongAdder fills() {
        return fills;
    }

    /// Fills that failed, each try of one.
    LongAdder failedFills() {
        return failedFills;
    }

    /// Trees that were put over a replica.
    LongAdder swapsToReplica() {
        return swapsToReplica;
    }

    /// Trees that were put back over the image on CephFS.
    LongAdder swapsToImage() {
        return swapsToImage;
    }

    /// Replicas that were removed to make room, or because somebody asked; not those that were damaged.
    LongAdder evictions() {
        return evictions;
    }
}
