package dev.siphon.controller.kubernetes;

import dev.siphon.controller.key.DatasetKeyStore;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Volumes that show datasets, as Secrets of the driver's namespace, each named like the volume's PersistentVolume.
/// A class makes all its PersistentVolumes name a Secret, and kubelets mount nothing without it. The Secrets
/// contain keys while some node does not request its own.
final class KubernetesDatasetKeyStore implements DatasetKeyStore {
    private static final String OF_NODES = "app.kubernetes.io/name=siphon,app.kubernetes.io/component=node";

    /// Label of node plugin pods that request keys.
    private static final String ASKING = "siphon.dev/dataset-keys";

    private final KubernetesApi api;
    private final KeySecrets secrets;
    private final DatasetAccesses accesses;
    private final boolean always;

    /// @param always whether volumes have keys even though all nodes request their own
    KubernetesDatasetKeyStore(KubernetesApi api, DatasetAccesses accesses, boolean always) {
        this.api = api;
        this.accesses = accesses;
        this.secrets = new KeySecrets(api);
        this.always = always;
    }

    /// Decides by the labels of the node plugin's pods; those of earlier versions have no label. False without such
    /// pods: the nodes are run elsewhere.
    @Override
    public boolean nodesAsk() {
        return !always && !isAnyNode("!" + ASKING) && isAnyNode(ASKING);
    }

    private boolean isAnyNode(String labelled) {
        ListOptions one = new ListOptionsBuilder()
                .withLabelSelector(OF_NODES + "," + labelled)
                .withLimit(1L)
                .build();
        return api.find(
                        "list Pods in namespace " + api.namespace(),
                        server -> server.pods().inNamespace(api.namespace()).list(one))
                .filter(found -> !found.getItems().isEmpty())
                .isPresent();
    }

    @Override
    public void put(VolumeId.DatasetVolume volume, String name, Optional<VolumeKey> key) {
        String called = KeySecret.name(volume, name);
        if (!secrets.write(called, volume, key)) {
            throw new DriverException.InUse(
                    secrets.called(called) + " holds the key of another volume than " + volume + ": remove it");
        }
    }

    @Override
    public boolean hasAny(VolumeId.DatasetVolume dataset) {
        return secrets.isAny(KeySecret.ofDataset(dataset)) || isNamedByPods(dataset);
    }

    private boolean isNamedByPods(VolumeId.DatasetVolume dataset) {
        return !podsNaming(dataset).isEmpty();
    }

    private boolean mayRead(DatasetAccesses.Given given) {
        String doing = "get Pod " + given.pod();
        return api.read(
                        doing,
                        "api/v1/namespaces/" + given.namespace() + "/pods/" + given.pod(),
                        body -> KubernetesApi.object(doing, body))
                .filter(PodParser::hasEnded)
                .isEmpty();
    }

    private List<DatasetAccesses.Given> podsNaming(VolumeId.DatasetVolume dataset) {
        List<DatasetAccesses.Given> naming = new ArrayList<>();
        // lists, since a pod that the watch has not reported yet would lose its key
        accesses.list(access -> DatasetAccesses.given(access)
                .filter(given -> given.dataset().equals(dataset.withoutClaim()))
                .ifPresent(naming::add));
        return naming;
    }

    @Override
    public List<String> users(VolumeId.DatasetVolume dataset) {
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
    public List<VolumeId.DatasetVolume> shown(boolean withKey) {
        List<VolumeId.DatasetVolume> shown = new ArrayList<>();
        secrets.list(
                KeySecret.OF_DATASETS,
                secret -> KeySecret.volume(secret)
                        .filter(_ -> KeySecret.key(secret).isPresent() == withKey)
                        .filter(VolumeId.DatasetVolume.class::isInstance)
                        .map(VolumeId.DatasetVolume.class::cast)
                        .ifPresent(shown::add));
        return shown;
    }

    @Override
    public void replace(VolumeId.DatasetVolume volume, Optional<VolumeKey> key) {
        secrets.search(volume).forEach(secret -> {
            boolean _ = secrets.write(secret.getMetadata().getName(), volume, key);
        });
    }

    @Override
    public void remove(VolumeId.DatasetVolume volume) {
        secrets.remove(volume);
    }
}
