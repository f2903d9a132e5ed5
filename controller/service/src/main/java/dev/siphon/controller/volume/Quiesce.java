package dev.siphon.controller.volume;

import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.List;

/// Port: stops all writes to a set of subvolumes while they are snapshotted (`fs quiesce`, Ceph 19 and later).
public interface Quiesce {
    /// Stops writes to `members`, all of one file system, until [#release] or until `expiration` has passed.
    ///
    /// @param set the name of this quiesce, the same on a retry
    /// @return false if the cluster cannot quiesce; then nothing was done
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable if clients did not stop in time; writes continue
    boolean acquire(String set, List<VolumeId.Provisioned> members, Duration timeout, Duration expiration);

    /// Resumes writes.
    ///
    /// @return false if the quiesce had already ended, so that the snapshots are not of one moment
    boolean release(String set, List<VolumeId.Provisioned> members);
}
