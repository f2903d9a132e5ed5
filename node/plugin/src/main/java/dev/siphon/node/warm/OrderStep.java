package dev.siphon.node.warm;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId.DatasetVolume;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica;
import dev.siphon.csi.dataset.Digest;
import java.time.Duration;

/// The next step for an order, as [OrderDecision] decides it and [ReplicaOrderWorker] takes it.
sealed interface OrderStep {
    /// Nothing is left to do, ever.
    record End() implements OrderStep {}

    /// Unmount the image, and let the replica be evicted.
    record Release() implements OrderStep {}

    /// Report this, and check again later.
    record Tell(DatasetReplica.Report report) implements OrderStep {}

    /// Ask the controller for the volume's key.
    record Ask(DatasetVolume volume) implements OrderStep {}

    /// Wait for the answer, at most so long.
    record Wait(Duration limit) implements OrderStep {}

    /// Mount the image with the key.
    record Open(ObservedOrder.Work.Asked asked, DatasetAccess.Given key) implements OrderStep {}

    /// Fill the replica, or verify the one that is there.
    record Fill(DatasetVolume volume, Digest digest) implements OrderStep {}

    /// Report the error, and try again later.
    record Fail(DriverException why) implements OrderStep {}
}
