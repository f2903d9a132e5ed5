package dev.siphon.controller.volume;

import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;

/// What counts against an allowance: a volume, or a snapshot of one.
///
/// @param subvolume the volume's
/// @param snapshot empty for the volume itself
record Item(String subvolume, String snapshot) {
    static Item of(VolumeId.Provisioned volume) {
        return new Item(volume.subvolume(), "");
    }

    static Item of(SnapshotId snapshot) {
        return new Item(snapshot.volume().subvolume(), snapshot.name());
    }

    boolean isSnapshot() {
        return !snapshot.isEmpty();
    }
}
