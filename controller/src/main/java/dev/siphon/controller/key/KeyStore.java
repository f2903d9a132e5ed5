package dev.siphon.controller.key;

import dev.siphon.csi.VolumeId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// Port: where the keys of volumes wait for the nodes that stage them.
public interface KeyStore {
    /// Keeps the key of a volume, in place of an earlier one.
    void put(VolumeId.Provisioned volume, VolumeKey key);

    /// The key of a volume.
    Optional<VolumeKey> find(VolumeId.Provisioned volume);

    /// Since when a volume has the key that it has; empty if it has none.
    Optional<Instant> since(VolumeId.Provisioned volume);

    /// Forgets the key of a volume; one that is not there is no error.
    void remove(VolumeId.Provisioned volume);

    /// The volumes that have a key here.
    List<VolumeId.Provisioned> volumes();
}
