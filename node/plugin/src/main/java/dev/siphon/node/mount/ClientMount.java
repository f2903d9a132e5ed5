package dev.siphon.node.mount;

import dev.siphon.csi.Monitors;
import dev.siphon.csi.VolumeId;

/// The directory that a Ceph client mounts, and how.
///
/// @param volume the volume that it is mounted for
/// @param fileSystem the Ceph file system
/// @param path the directory in it that becomes the client's root
/// @param credentials the identity of the client
public record ClientMount(
        VolumeId volume,
        Monitors monitors,
        String fileSystem,
        String path,
        CephCredentials credentials,
        ClientOptions options) {
    /// Returns a copy with other monitors.
    ClientMount at(Monitors others) {
        return new ClientMount(volume, others, fileSystem, path, credentials, options);
    }
}
