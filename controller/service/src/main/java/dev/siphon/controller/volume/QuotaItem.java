package dev.siphon.controller.volume;

import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;

/// A volume or snapshot that counts against an allowance.
///
/// @param subvolume the volume's name in its group
/// @param snapshot the snapshot's name; empty for the volume itself
record QuotaItem(String subvolume, String snapshot) {
    static QuotaItem of(VolumeId.Provisioned volume) {
        return new QuotaItem(volume.subvolume(), "");
    }

    static QuotaItem of(SnapshotId snapshot) {
        return new QuotaItem(snapshot.volume().subvolume(), snapshot.name());
    }

    boolean isSnapshot() {
        return !snapshot.isEmpty();
    }
}
