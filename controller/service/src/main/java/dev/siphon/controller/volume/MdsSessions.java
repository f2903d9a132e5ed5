package dev.siphon.controller.volume;

import dev.siphon.csi.NodeId;
import dev.siphon.csi.VolumeId;

/// Port: the sessions of clients at the MDS daemons.
public interface MdsSessions {
    /// Evicts every session by which `node` can reach `volume`, and blocklists it at the OSDs, so that no write in
    /// flight can succeed. Idempotent.
    ///
    /// A session is the node's if its client reports the node's host name or comes from its address. It reaches the
    /// volume if it uses the volume's identity. With a shared identity, it must mount the volume or its group, and
    /// must not name another volume.
    ///
    /// @return the number of evicted sessions
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable if an MDS does not reply; then the node is not
    /// fenced
    int fence(VolumeId.Provisioned volume, NodeId node);
}
