package dev.siphon.controller.dataset;

import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/// Port: the pods that use datasets, and the recorded usage of each dataset.
///
/// All methods throw [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if the backend does not
/// reply, and [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if the driver lacks permission.
public interface DatasetUsageCluster {
    /// Returns the valid declared datasets.
    List<RecordedUsage> declared();

    /// A dataset with its recorded usage.
    ///
    /// @param written the recorded usage; empty if there is none
    record RecordedUsage(Dataset dataset, Optional<DatasetUsage> written) {}

    /// Passes on each pod that is on a node, has not ended, and has a volume of one of `datasets`: once per
    /// dataset. Pods that have not started count, even those that wait in vain for a claim's volume.
    ///
    /// @param datasets without claims
    void each(Set<VolumeId.DatasetVolume> datasets, Consumer<PodUse> each);

    /// A pod that uses a dataset.
    record PodUse(VolumeId.DatasetVolume dataset, String node, String namespace) {}

    /// Passes on each node that is ordered to have a replica now, with the dataset.
    void eachReplica(BiConsumer<VolumeId.DatasetVolume, String> each);

    /// Records the usage of a dataset. Does nothing if the dataset was deleted meanwhile.
    ///
    /// @param name the dataset's
    void report(String name, DatasetUsage use);
}
