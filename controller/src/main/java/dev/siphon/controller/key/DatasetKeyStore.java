package dev.siphon.controller.key;

import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Optional;

/// Port: where the volumes of claims that show datasets are kept, each with a copy of the one key that its
/// dataset has for them, unless nodes ask for keys of their own. What it throws is as in [KeyStore].
public interface DatasetKeyStore {
    /// Whether all nodes ask the controller for the datasets of claims, so that volumes need no key
    /// here. A node that does not ask has this key alone.
    default boolean nodesAsk() {
        return false;
    }

    /// Keeps a volume and its key, in place of an earlier one.
    ///
    /// @param name what the CO calls the volume
    /// @param key empty where [#nodesAsk]
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if something that is not Siphon's has
    ///     the place; it is left as it is
    void put(VolumeId.DatasetVolume volume, String name, Optional<VolumeKey> key);

    /// Whether any volume that shows this dataset is here.
    ///
    /// @param dataset for no claim
    boolean hasAny(VolumeId.DatasetVolume dataset);

    /// Who uses this dataset by what is here, in words for people: volumes of claims, and pods that name it
    /// themselves.
    ///
    /// @param dataset for no claim
    List<String> users(VolumeId.DatasetVolume dataset);

    /// The volumes that are here, of all datasets.
    ///
    /// @param withKey those that have a key, or those that have none
    List<VolumeId.DatasetVolume> shown(boolean withKey);

    /// Gives a volume that is here another key.
    ///
    /// @param key empty for none
    void replace(VolumeId.DatasetVolume volume, Optional<VolumeKey> key);

    /// Forgets a volume and its key; one that is not there is no error.
    void remove(VolumeId.DatasetVolume volume);
}
