package dev.siphon.controller.volume;

import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;

/// Port: gives a volume its key, and removes the key with the volume.
public interface KeyMinting {
    /// No keys: whoever mounts brings one.
    KeyMinting NONE = new KeyMinting() {
        @Override
        public void made(VolumeId.Provisioned volume, VolumeContext context, String name) {
            // no key to mint
        }

        @Override
        public void leaving(VolumeId.Provisioned volume) {
            // no key to remove
        }

        @Override
        public void removed(VolumeId.Provisioned volume) {
            // no key to remove
        }
    };

    /// Ensures that a complete volume has a key. Mints it in the background, except for a snapshot-backed volume.
    /// Costs no mgr command. Idempotent.
    ///
    /// @param context the volume's context for nodes
    /// @param name the caller's name for the volume; in Kubernetes the name of its PersistentVolume
    void made(VolumeId.Provisioned volume, VolumeContext context, String name);

    /// Notes that a volume is about to be removed; makes no call. If Ceph does not reply, [#removed] may never
    /// follow.
    void leaving(VolumeId.Provisioned volume);

    /// Removes the key of a removed volume, wherever it is. Idempotent.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if the removal is not certain
    void removed(VolumeId.Provisioned volume);
}
