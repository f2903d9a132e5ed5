package dev.siphon.controller.key;

import dev.siphon.csi.VolumeId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/// Port: where the keys of volumes wait for the nodes that stage them.
///
/// What stores throw beyond what is said here: [dev.siphon.csi.DriverException.BackendUnavailable]
/// (UNAVAILABLE) if the store cannot be reached, [dev.siphon.csi.DriverException.AccessDenied]
/// (PERMISSION_DENIED) if the driver may not use it. No message holds a key. Repeating anything is safe.
public interface KeyStore {
    /// Keeps the key of a volume, in place of an earlier one.
    ///
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if something that is not Siphon's has the
    ///     place; it is left as it is
    void put(VolumeId.Provisioned volume, VolumeKey key);

    /// The key of a volume, as the store has it now.
    Optional<VolumeKey> find(VolumeId.Provisioned volume);

    /// Since when a volume has the key that it has; empty if it has none.
    Optional<Instant> since(VolumeId.Provisioned volume);

    /// Forgets the key of a volume; one that is not there is no error.
    void remove(VolumeId.Provisioned volume);

    /// The volumes that have a key here.
    List<VolumeId.Provisioned> volumes();

    /// The volumes that have a key here, each with the id of the identity that it is for.
    default Map<VolumeId.Provisioned, String> userIds() {
        return volumes().stream()
                .flatMap(volume -> find(volume).map(key -> Map.entry(volume, key.userId())).stream())
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /// False if there is certainly no key of the volume here, or only one that this process has not made. Asks
    /// nobody: a new volume must not wait for a store.
    default boolean mayHave(VolumeId.Provisioned volume) {
        return true;
    }

    /// Says what the CO calls a volume, for stores into which nodes look under that name. Asks nobody.
    default void named(VolumeId.Provisioned volume, String name) {
        // here a volume's id is name enough
    }

    /// The namespace of the claim to which an administrator has given a volume that this process did not make, by a
    /// PersistentVolume; empty where nobody has.
    default Optional<String> claimedFrom(VolumeId.Provisioned volume) {
        return Optional.empty();
    }

    /// Whether it is known where the key of a volume belongs, so that it can be put; it may come to be known later.
    default boolean hasPlaceFor(VolumeId.Provisioned volume) {
        return true;
    }
}
