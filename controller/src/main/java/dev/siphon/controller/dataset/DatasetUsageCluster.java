package dev.siphon.controller.dataset;

import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/// Port: the pods that use datasets, and where it is written down how many there are.
///
/// All of it throws [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if there is no answer, and
/// [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if the driver may not.
public interface DatasetUsageCluster {
    /// The datasets that are declared and can be.
    List<RecordedUsage> declared();

    /// A dataset.
    ///
    /// @param written what is said of its use now; empty if nothing is
    record RecordedUsage(Dataset dataset, Optional<DatasetUsage> written) {}

    /// Hands over the pods that are on a node, have not ended, and have a volume of one of `datasets`: each once
    /// for each of these. One that is still to begin counts, and so does one that waits in vain for a volume of a
    /// claim.
    ///
    /// @param datasets for no claim
    void each(Set<VolumeId.DatasetVolume> datasets, Consumer<PodUse> each);

    /// A pod with a dataset.
    record PodUse(VolumeId.DatasetVolume dataset, String node, String namespace) {}

    /// Hands over the nodes that are told to have a replica now, each with its dataset.
    void eachReplica(BiConsumer<VolumeId.DatasetVolume, String> each);

    /// Writes down how a dataset is used. One that was deleted meanwhile needs nothing.
    ///
    /// @param name the dataset's
    void report(String name, DatasetUsage use);
}
