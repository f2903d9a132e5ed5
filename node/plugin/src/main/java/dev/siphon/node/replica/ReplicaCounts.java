package dev.siphon.node.replica;

import dev.siphon.node.linux.BlockDevices;
import java.util.concurrent.atomic.LongAdder;

/// Counts what happened to replicas in this run of the driver.
final class ReplicaCounts {
    private final LongAdder filledBytes = new LongAdder();
    private final LongAdder fills = new LongAdder();
    private final LongAdder failedFills = new LongAdder();
    private final LongAdder swapsToReplica = new LongAdder();
    private final LongAdder swapsToImage = new LongAdder();
    private final LongAdder evictions = new LongAdder();
    private final FillsAhead fillsAhead = new FillsAhead(System::nanoTime);
    private final DatasetReads reads = new DatasetReads(BlockDevices::reads);

    /// Bytes of images written to cache directories.
    LongAdder filledBytes() {
        return filledBytes;
    }

    /// Fills that completed a replica.
    LongAdder fills() {
        return fills;
    }

    /// Failed fills; each attempt counts.
    LongAdder failedFills() {
        return failedFills;
    }

    /// Switches of a tree to a replica.
    LongAdder swapsToReplica() {
        return swapsToReplica;
    }

    /// Switches of a tree back to the image on CephFS.
    LongAdder swapsToImage() {
        return swapsToImage;
    }

    /// Replicas removed to make room or on request, without the damaged ones.
    LongAdder evictions() {
        return evictions;
    }

    /// Fills that pods need not wait for.
    FillsAhead fillsAhead() {
        return fillsAhead;
    }

    /// What readers of attached datasets read.
    DatasetReads reads() {
        return reads;
    }
}
