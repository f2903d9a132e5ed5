package dev.siphon.controller.volume;

import dev.siphon.csi.NodeId;
import dev.siphon.csi.VolumeId;

/// Port: the sessions that clients hold at the MDS daemons.
public interface MdsSessions {
    /// Ends every session by which `node` can reach `volume`, and blocklists it at the OSDs, so that
    /// nothing it still has in flight can be written; a session is the node's if its client reports the
    /// node's host name or comes from its address, and reaches the volume if it mounts the volume's group
    /// and is not known to be there for another volume of it.
    /// Repeating it is safe.
    ///
    /// @return how many sessions were ended
    /// @throws DriverException.BackendUnavailable if an MDS does not answer; then the node is not fenced
    int fence(VolumeId.Provisioned volume, NodeId node);
}
