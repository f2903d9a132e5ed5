package dev.siphon.controller.key;

import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.List;

/// Port: who uses which identity now. Deadlines and unknown outcomes are as in
/// [dev.siphon.controller.volume.Subvolumes].
///
/// All of it needs `mds 'allow * fsname=FS'` ([dev.siphon.csi.DriverException.AccessDenied],
/// PERMISSION_DENIED); `siphon ceph-caps --key-commands` prints that.
public interface ClientSessions {
    /// All sessions of a file system, those of every MDS that is active in it.
    List<ClientSession> all(String cluster, String fileSystem);

    /// The sessions that an identity has.
    List<ClientSession> of(String cluster, String fileSystem, String userId);

    /// The sessions by which clients may use a volume: those that its keys opened, and those at its directories or at
    /// its group that are not known to be there for another volume.
    List<ClientSession> mounting(VolumeId.Provisioned volume);

    /// Ends sessions, all at once, and has the OSDs refuse these clients, so that nothing they have in flight
    /// is written. One that has ended is no error; where one cannot be ended the others are all the same.
    void end(String cluster, List<ClientSession> sessions);

    /// Has MDS and OSDs refuse every client at an IP address: also one whose session nobody knows, which has a
    /// ticket that somebody copied. Repeating it makes it last longer.
    ///
    /// @param address an IP address, no name
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if a daemon of the cluster, a
    ///     controller or this process has that address
    void block(String cluster, String address, Duration time);
}
