package dev.siphon.e2e.isolation;

import csi.v1.Volume;

/// A volume that is attacked, or from which the attack comes.
///
/// @param title of its column
/// @param owner the account
/// @param key the key of this volume
/// @param data its data directory in the file system
/// @param snapshotId of a snapshot of it
/// @param snapshot that snapshot's name in Ceph
/// @param pool of its objects
/// @param namespace of its objects, in RADOS
/// @param object that holds the content of the file `secret`
record Target(
        String title,
        String owner,
        Volume volume,
        KeyHolder key,
        String data,
        String snapshotId,
        String snapshot,
        String pool,
        String namespace,
        String object) {
    /// The content of each volume's file `secret`.
    static final String SECRET = "nobody else's";

    /// Returns the account's directory.
    String group() {
        return "/volumes/" + part(3);
    }

    String subvolume() {
        return part(4);
    }

    /// Returns the data directory's name.
    String leaf() {
        return data.substring(data.lastIndexOf('/') + 1);
    }

    private String part(int index) {
        return volume.getVolumeId().split(":", -1)[index];
    }
}
