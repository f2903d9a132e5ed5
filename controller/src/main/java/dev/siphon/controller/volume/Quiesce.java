package dev.siphon.controller.volume;

import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.List;

/// Port: stops all writes to a set of subvolumes for the moment in which they are snapshotted (`fs
/// quiesce`, Ceph 19 and later).
public interface Quiesce {
    /// Stops writes to `members`, all of one file system, until [#release] or until `expiration` has passed.
    ///
    /// @param set a name for this quiesce, the same on a retry
    /// @return false if the cluster cannot quiesce; then nothing was done
    /// @throws DriverException.BackendUnavailable if clients did not stop in time; writes go on
    boolean acquire(String set, List<VolumeId.Provisioned> members, Duration timeout, Duration expiration);

    /// Lets writes go on.
    ///
    /// @return false if the quiesce had ended before, so that what was done meanwhile is not of one moment
    boolean release(String set, List<VolumeId.Provisioned> members);
}
