package dev.siphon.controller.recovery;

import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.Optional;
import java.util.function.Consumer;

/// Port: what Kubernetes has now of the volumes and snapshots of this driver.
///
/// All of it throws [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if there is no answer, and
/// [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if the driver may not look.
public interface ClusterRecords {
    /// Hands over the PersistentVolumes of this driver's volumes, page after page.
    void eachVolume(Consumer<VolumeRecord> each);

    /// One of them, by its name; empty if there is none, or it is another driver's.
    Optional<VolumeRecord> volume(String persistentVolume);

    /// Hands over the VolumeSnapshots of this driver's snapshots; none where the cluster has no such kind.
    void eachSnapshot(Consumer<SnapshotRecord> each);

    /// A PersistentVolume.
    ///
    /// @param text the object as JSON, as another Kubernetes can take it: its claim by name alone, and without it
    ///     where that claim is gone
    record VolumeRecord(VolumeId.Provisioned volume, String text) {}

    /// A VolumeSnapshot.
    ///
    /// @param className its VolumeSnapshotClass; "" for none
    record SnapshotRecord(SnapshotId snapshot, String namespace, String name, String className) {}
}
