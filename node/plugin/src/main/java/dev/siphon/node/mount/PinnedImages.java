package dev.siphon.node.mount;

import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import java.time.Duration;

/// Port: mounts images of datasets that no volume shows.
public interface PinnedImages {
    /// Mounts the image of a dataset, and starts to make a replica of it.
    ///
    /// @param dataset the dataset, without a claim
    /// @param holder who needs it; several holders can share one image
    /// @return its digest
    /// @throws dev.siphon.csi.DriverException as NodeStageVolume
    Digest pin(
            VolumeId.DatasetVolume dataset,
            Object holder,
            VolumeContext context,
            CephCredentials credentials,
            Duration limit);

    /// Undoes [#pin]. The image stays mounted while a volume shows it or another holder needs it. Idempotent.
    void unpin(VolumeId.DatasetVolume dataset, Object holder, Duration limit);
}
