package dev.siphon.controller.key;

import dev.siphon.csi.VolumeId;
import java.util.List;

/// Port: where the keys of volumes that show datasets wait for the nodes that stage them: a copy for each volume,
/// of the one key that its dataset has. What it throws is as in [KeyStore].
public interface DatasetKeyStore {
    /// Keeps the key of a volume, in place of an earlier one.
    ///
    /// @param name what the CO calls the volume
    /// @throws dev.siphon.csi.DriverException.InUse (FAILED_PRECONDITION) if something that is not Siphon's has
    ///     the place; it is left as it is
    void put(VolumeId.Dataset volume, String name, VolumeKey key);

    /// Whether any volume that shows this dataset has a key here.
    ///
    /// @param dataset for no claim
    boolean hasAny(VolumeId.Dataset dataset);

    /// Who has a key of this dataset here, in words for people: volumes of claims, and pods that name it themselves.
    ///
    /// @param dataset for no claim
    List<String> users(VolumeId.Dataset dataset);

    /// The volumes that have a key here, of all datasets.
    List<VolumeId.Dataset> shown();

    /// Gives a volume another key, if it has one.
    void replace(VolumeId.Dataset volume, VolumeKey key);

    /// Forgets the key of a volume; one that is not there is no error.
    void remove(VolumeId.Dataset volume);
}
