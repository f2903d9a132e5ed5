package dev.siphon.node.mount;

import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import java.time.Duration;

/// Port: images of datasets that no volume shows, as [NodeVolumes] mounts them.
public interface PinnedImages {
    /// Mounts the image of a dataset, and has a replica made of it.
    ///
    /// @param dataset for no claim
    /// @param holder who needs it; others that need the same image hold it too
    /// @return its digest
    /// @throws dev.siphon.csi.DriverException as NodeStageVolume
    Digest pin(
            VolumeId.DatasetVolume dataset,
            Object holder,
            VolumeContext context,
            CephCredentials credentials,
            Duration limit);

    /// Undoes it, as far as no volume shows the dataset and nobody else holds it; repeats safely.
    void unpin(VolumeId.DatasetVolume dataset, Object holder, Duration limit);
}
