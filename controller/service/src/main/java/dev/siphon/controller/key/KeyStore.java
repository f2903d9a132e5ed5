package dev.siphon.controller.key;

import dev.siphon.csi.VolumeId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/// Port: holds the keys of volumes for the nodes that stage them.
///
/// All methods may throw [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if the store is
/// unreachable, and [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if the driver may not use
/// it. No message holds a key. All methods are idempotent.
public interface KeyStore {
    /// Stores the key of a volume, replacing an earlier one.
    ///
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if an object that is not Siphon's has
    ///     the place; it stays unchanged
    void put(VolumeId.Provisioned volume, VolumeKey key);

    /// Returns the current key of a volume.
    Optional<VolumeKey> find(VolumeId.Provisioned volume);

    /// Returns when the volume's current key was stored; empty if it has none.
    Optional<Instant> since(VolumeId.Provisioned volume);

    /// Removes the key of a volume; a missing one is no error.
    void remove(VolumeId.Provisioned volume);

    /// Returns the volumes that have a key in this store.
    List<VolumeId.Provisioned> volumes();

    /// Returns the volumes that have a key in this store, each with its identity's id.
    default Map<VolumeId.Provisioned, String> userIds() {
        return volumes().stream()
                .flatMap(volume -> find(volume).map(key -> Map.entry(volume, key.userId())).stream())
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /// Returns false if the store certainly has no key of the volume, or only one that this process did not
    /// create. Makes no call to the store, because a new volume must not wait for it.
    default boolean mayHave(VolumeId.Provisioned volume) {
        return true;
    }

    /// Records the CO's name for a volume, for stores in which nodes look up keys by that name. Makes no call to
    /// the store.
    default void named(VolumeId.Provisioned volume, String name) {
        // the volume id serves as the name
    }

    /// Returns the namespace of the claim if an administrator wrote a PersistentVolume for a volume that this
    /// process did not create; otherwise empty.
    default Optional<String> claimedFrom(VolumeId.Provisioned volume) {
        return Optional.empty();
    }

    /// Returns whether the place of a volume's key is known, so that it can be stored; this may change later.
    default boolean hasPlaceFor(VolumeId.Provisioned volume) {
        return true;
    }
}
