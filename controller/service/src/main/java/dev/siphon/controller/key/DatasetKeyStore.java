package dev.siphon.controller.key;

import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Optional;

/// Port: stores the volumes of claims that show datasets. Each comes with a copy of its dataset's shared key,
/// unless nodes request keys of their own. Throws as [KeyStore] does.
public interface DatasetKeyStore {
    /// Returns whether all nodes request dataset keys from the controller, so that volumes need no key here. A
    /// node that does not request one has only the stored key.
    default boolean nodesAsk() {
        return false;
    }

    /// Stores a volume and its key, replacing an earlier one.
    ///
    /// @param name the CO's name for the volume
    /// @param key empty if [#nodesAsk]
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if an object that is not Siphon's has
    ///     the place; it stays unchanged
    void put(VolumeId.DatasetVolume volume, String name, Optional<VolumeKey> key);

    /// Returns whether the store has any volume that shows this dataset.
    ///
    /// @param dataset for no claim
    boolean hasAny(VolumeId.DatasetVolume dataset);

    /// Returns the stored users of this dataset, as text for people: volumes of claims, and pods with inline
    /// volumes.
    ///
    /// @param dataset for no claim
    List<String> users(VolumeId.DatasetVolume dataset);

    /// Returns the stored volumes of all datasets.
    ///
    /// @param withKey true for the volumes with a key, false for those without
    List<VolumeId.DatasetVolume> shown(boolean withKey);

    /// Replaces the key of a stored volume.
    ///
    /// @param key empty to remove it
    void replace(VolumeId.DatasetVolume volume, Optional<VolumeKey> key);

    /// Removes a volume and its key; a missing one is no error.
    void remove(VolumeId.DatasetVolume volume);
}
