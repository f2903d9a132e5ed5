package dev.siphon.controller.recovery;

import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/// Port: reads the volumes and snapshots of this driver from Kubernetes.
///
/// All methods throw [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if Kubernetes does not
/// answer, and [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if the driver may not read them.
public interface ClusterRecords {
    /// Passes each PersistentVolume of this driver to `each`, page by page.
    void eachVolume(Consumer<VolumeRecord> each);

    /// Returns one of them by name; empty if there is none, or it belongs to another driver.
    Optional<VolumeRecord> volume(String persistentVolume);

    /// Passes each VolumeSnapshot of this driver to `each`; none if the cluster does not know that kind.
    void eachSnapshot(Consumer<SnapshotRecord> each);

    /// A PersistentVolume.
    ///
    /// @param text the object as JSON, ready for another Kubernetes: refers to its claim by name only, and to none
    ///     if the claim is gone
    /// @param metadata what the subvolume's metadata says of it, by the keys of [MetadataWriter]
    record VolumeRecord(VolumeId.Provisioned volume, String text, Map<String, String> metadata) {}

    /// A VolumeSnapshot.
    ///
    /// @param className its VolumeSnapshotClass; "" for none
    record SnapshotRecord(SnapshotId snapshot, String namespace, String name, String className) {}
}
