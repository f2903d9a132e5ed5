package dev.siphon.controller.volume;

import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;

/// What counts against an allowance: a volume, or a snapshot of one.
///
/// @param subvolume the volume's
/// @param snapshot empty for the volume itself
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
