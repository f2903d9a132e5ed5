package dev.siphon.controller.key;

import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.List;

/// Port: the sessions of identities. Deadlines and unknown outcomes are as in
/// [dev.siphon.controller.volume.Subvolumes].
///
/// All methods need `mds 'allow * fsname=FS'` ([dev.siphon.csi.DriverException.AccessDenied], PERMISSION_DENIED);
/// `siphon ceph-caps --key-commands` prints these caps.
public interface ClientSessions {
    /// Returns all sessions of a file system, at every active MDS.
    List<ClientSession> all(String cluster, String fileSystem);

    /// Returns the sessions of an identity.
    List<ClientSession> of(String cluster, String fileSystem, String userId);

    /// Returns the sessions that may use a volume: those that its keys opened, and those that mounted its
    /// directories or its group unless they are known to serve another volume.
    List<ClientSession> mounting(VolumeId.Provisioned volume);

    /// Evicts sessions in parallel, and makes the OSDs refuse these clients, so that writes in flight are lost. A
    /// session that has ended is no error. If one session cannot be evicted, the others still are.
    void end(String cluster, List<ClientSession> sessions);

    /// Makes MDS and OSDs refuse every client at an IP address, including an unknown client with a stolen ticket.
    /// Repeating it extends the time.
    ///
    /// @param address an IP address, not a name
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if a daemon of the cluster, a
    ///     controller or this process has that address
    void block(String cluster, String address, Duration time);
}
