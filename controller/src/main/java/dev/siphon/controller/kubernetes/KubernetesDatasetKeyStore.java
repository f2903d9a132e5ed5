package dev.siphon.controller.kubernetes;

import dev.siphon.controller.key.DatasetKeyStore;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;

/// Keys for volumes that show datasets, as Secrets of the driver's namespace, each called like the
/// PersistentVolume of its volume. Those of pods that name datasets themselves are in no Secret.
final class KubernetesDatasetKeyStore implements DatasetKeyStore {
    private final KubernetesApi api;
    private final KeySecrets secrets;

    KubernetesDatasetKeyStore(KubernetesApi api) {
        this.api = api;
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
        return secrets.isAny(KeySecret.ofDataset(dataset)) || isNamedByPods(dataset);
    }

    private boolean isNamedByPods(VolumeId.Dataset dataset) {
        return !podsNaming(dataset).isEmpty();
    }

    private boolean mayRead(GivenDatasets.Given given) {
        String doing = "get Pod " + given.pod();
        return api.read(
                        doing,
                        "api/v1/namespaces/" + given.namespace() + "/pods/" + given.pod(),
                        body -> KubernetesApi.object(doing, body))
                .filter(PodReading::hasEnded)
                .isEmpty();
    }

    private List<GivenDatasets.Given> podsNaming(VolumeId.Dataset dataset) {
        List<GivenDatasets.Given> naming = new ArrayList<>();
        GivenDatasets.each(api, given -> {
            if (given.dataset().equals(dataset.forNobody())) {
                naming.add(given);
            }
        });
        return naming;
    }

    @Override
    public List<String> users(VolumeId.Dataset dataset) {
        List<String> users = new ArrayList<>();
        secrets.list(
                KeySecret.ofDataset(dataset),
                secret -> users.add("PersistentVolume " + secret.getMetadata().getName()));
        podsNaming(dataset).stream()
                .filter(this::mayRead)
                .forEach(given -> users.add("pod " + given.namespace() + "/" + given.pod()));
        return users;
    }

    @Override
    public List<VolumeId.Dataset> shown() {
        List<VolumeId.Dataset> shown = new ArrayList<>();
        secrets.list(
                KeySecret.OF_DATASETS,
                secret -> KeySecret.volume(secret)
                        .filter(VolumeId.Dataset.class::isInstance)
                        .map(VolumeId.Dataset.class::cast)
                        .ifPresent(shown::add));
        return shown;
    }

    @Override
    public void replace(VolumeId.Dataset volume, VolumeKey key) {
        secrets.search(volume).forEach(secret -> {
            boolean _ = secrets.write(secret.getMetadata().getName(), volume, key);
        });
    }

    @Override
    public void remove(VolumeId.Dataset volume) {
        secrets.remove(volume);
    }
}
