package dev.siphon.controller.kubernetes;

import dev.siphon.controller.key.DatasetKeyStore;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;

/// Keys for volumes that show datasets, as Secrets of the driver's namespace, each called like the
/// PersistentVolume of its volume.
final class KubernetesDatasetKeyStore implements DatasetKeyStore {
    private final KeySecrets secrets;

    KubernetesDatasetKeyStore(KubernetesApi api) {
        this.secrets = new KeySecrets(api);
    }

    @Override
    public void put(VolumeId.Dataset volume, String name, VolumeKey key) {
        String called = KeySecret.name(volume, name);
        if (!secrets.write(called, volume, key)) {
            throw new DriverException.InUse(
                    secrets.called(called) + " holds the key of another volume than " + volume + ": remove it");
        }
    }

    @Override
    public boolean hasAny(VolumeId.Dataset dataset) {
        return secrets.isAny(KeySecret.ofDataset(dataset));
    }

    @Override
    public void remove(VolumeId.Dataset volume) {
        secrets.remove(volume);
    }
}
