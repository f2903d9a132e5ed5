package dev.siphon.csi;

import java.util.Optional;

/// The place of a snapshot, as the `snapshot_id` of CSI: `VOLUME_ID@SNAPSHOT`.
///
/// @param volume the snapshot's source volume, which may be deleted by now
/// @param name the snapshot's name in Ceph
public record SnapshotId(VolumeId.Provisioned volume, String name) {
    public SnapshotId {
        VolumeId.Part.SNAPSHOT.check(name);
    }

    /// Parses an id.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `text` is not a snapshot id of this driver
    public static SnapshotId parse(String text) {
        return tryParse(text)
                .orElseThrow(() -> new DriverException.InvalidRequest("snapshot_id " + QuotedText.of(text)
                        + " does not belong to this driver: expected s1:CLUSTER:FS:GROUP:SUBVOLUME@SNAPSHOT"));
    }

    /// As [#parse], but returns empty for an id that no version of this driver can have created.
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
