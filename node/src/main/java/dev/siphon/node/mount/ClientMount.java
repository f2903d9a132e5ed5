package dev.siphon.node.mount;

import dev.siphon.csi.Monitors;
import dev.siphon.csi.VolumeId;

/// What a Ceph client is to mount.
///
/// @param volume the volume that it is for
/// @param fileSystem the Ceph file system
/// @param path the directory in it that becomes the client's root
/// @param credentials the identity to come as
public record ClientMount(
        VolumeId volume,
        Monitors monitors,
        String fileSystem,
        String path,
        CephCredentials credentials,
        ClientOptions options) {
    /// The same by other monitors.
    ClientMount at(Monitors others) {
        return new ClientMount(volume, others, fileSystem, path, credentials, options);
    }
}
