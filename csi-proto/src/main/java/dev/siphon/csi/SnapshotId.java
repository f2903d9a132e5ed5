package dev.siphon.csi;

import java.util.Optional;

/// Where a snapshot lives, as the `snapshot_id` of CSI: `VOLUME_ID@SNAPSHOT`.
///
/// @param volume the volume the snapshot was taken of; it may have been deleted since
/// @param name the snapshot's name in Ceph
public record SnapshotId(VolumeId.Provisioned volume, String name) {
    public SnapshotId {
        VolumeId.Part.SNAPSHOT.check(name);
    }

    /// Reads an id.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `text` is not a snapshot id of this driver
    public static SnapshotId parse(String text) {
        return tryParse(text)
                .orElseThrow(() -> new DriverException.InvalidRequest("snapshot_id " + QuotedText.of(text)
                        + " is not one of this driver: expected s1:CLUSTER:FS:GROUP:SUBVOLUME@SNAPSHOT"));
    }

    /// As [#parse], with empty for what no version of this driver can have made.
    public static Optional<SnapshotId> tryParse(String text) {
        int at = text.lastIndexOf('@');
        if (at < 0 || !VolumeId.Part.SNAPSHOT.fits(text.substring(at + 1))) {
            return Optional.empty();
        }
        return VolumeId.tryParse(text.substring(0, at))
                .filter(VolumeId.Provisioned.class::isInstance)
                .map(volume -> new SnapshotId((VolumeId.Provisioned) volume, text.substring(at + 1)));
    }

    @Override
    public String toString() {
        return volume + "@" + name;
    }
}
