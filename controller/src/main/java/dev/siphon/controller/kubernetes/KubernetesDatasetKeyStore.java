package dev.siphon.controller.kubernetes;

import dev.siphon.controller.key.DatasetKeyStore;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// Keys for volumes that show datasets, as Secrets of the driver's namespace, each called like the
/// PersistentVolume of its volume. Those of pods that name datasets themselves are in no Secret.
final class KubernetesDatasetKeyStore implements DatasetKeyStore {
    private static final Set<String> ENDED = Set.of("Succeeded", "Failed");

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

    private record Named(String namespace, String pod) {}

    /// Whether it may still read: one that has ended keeps its object, and what it had, for as long as somebody likes.
    private boolean mayRead(Named named) {
        String doing = "get Pod " + named.pod();
        Optional<String> phase = api.read(
                        doing,
                        "api/v1/namespaces/" + named.namespace() + "/pods/" + named.pod(),
                        body -> KubernetesApi.object(doing, body))
                .flatMap(pod -> JsonParts.text(pod, "status", "phase"));
        return phase.filter(ENDED::contains).isEmpty();
    }

    private List<Named> podsNaming(VolumeId.Dataset dataset) {
        List<Named> named = new ArrayList<>();
        // no pod names any where there is no such kind
        boolean _ = api.listCustom(
                "list DatasetAccesses",
                DatasetRequests.PATH,
                access -> DatasetRequests.given(access)
                        .map(VolumeId.Dataset::forNobody)
                        .filter(dataset.forNobody()::equals)
                        .ifPresent(_ -> named.add(new Named(
                                JsonParts.text(access, "metadata", "namespace").orElse(""),
                                JsonParts.text(access, "spec", "pod").orElse("")))));
        return named;
    }

    @Override
    public List<String> users(VolumeId.Dataset dataset) {
        List<String> users = new ArrayList<>();
        secrets.list(
                KeySecret.ofDataset(dataset),
                secret -> users.add("PersistentVolume " + secret.getMetadata().getName()));
        podsNaming(dataset).stream()
                .filter(this::mayRead)
                .forEach(named -> users.add("pod " + named.namespace() + "/" + named.pod()));
        return users;
    }

    @Override
    public void remove(VolumeId.Dataset volume) {
        secrets.remove(volume);
    }
}
