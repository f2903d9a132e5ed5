package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.explain.NamespacedName;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// The dataset volumes to which a pod's claims are bound. Each claim is read when first needed, and cached with the
/// pod.
final class PodClaims {
    private static final Keep OF_CLAIM = Keep.of("spec.volumeName");

    private final KubernetesApi api;
    private final String driver;
    private final String namespace;
    private final List<String> names;
    private final Map<String, Optional<VolumeId.DatasetVolume>> volumes = new ConcurrentHashMap<>();

    /// @param driver the CSI driver's name
    /// @param names of the claims, from the pod
    PodClaims(KubernetesApi api, String driver, String namespace, List<String> names) {
        this.api = api;
        this.driver = driver;
        this.namespace = namespace;
        this.names = List.copyOf(names);
    }

    int count() {
        return names.size();
    }

    /// Whether a claim is bound to a volume: 2 requests for each claim that is not cached.
    boolean have(VolumeId.DatasetVolume volume) {
        return names.stream().anyMatch(name -> of(name).equals(Optional.of(volume)));
    }

    private Optional<VolumeId.DatasetVolume> of(String name) {
        Optional<VolumeId.DatasetVolume> known = volumes.getOrDefault(name, Optional.empty());
        if (known.isPresent() || volumes.containsKey(name)) {
            return known;
        }
        Optional<VolumeId.DatasetVolume> read = read(name);
        volumes.put(name, read);
        return read;
    }

    /// Reads a claim's volume. Anyone's claim may name a PersistentVolume, so the PersistentVolume must name the
    /// claim too.
    private Optional<VolumeId.DatasetVolume> read(String name) {
        return find(
                        "PersistentVolumeClaim",
                        "api/v1/namespaces/" + namespace + "/persistentvolumeclaims/",
                        name,
                        OF_CLAIM)
                .flatMap(claim -> JsonParts.text(claim, "spec", "volumeName"))
                .flatMap(volume ->
                        find("PersistentVolume", "api/v1/persistentvolumes/", volume, PersistentVolumes.PARTS))
                .filter(volume -> isOf(volume, "namespace", namespace) && isOf(volume, "name", name))
                .flatMap(volume -> PersistentVolumes.dataset(volume, driver));
    }

    private static boolean isOf(JsonObject volume, String part, String wanted) {
        return JsonParts.text(volume, "spec", "claimRef", part).equals(Optional.of(wanted));
    }

    private Optional<JsonObject> find(String kind, String path, String name, Keep keep) {
        return NamespacedName.isPart(name)
                ? ObjectParts.find(api, "get " + kind + " " + name, path + name, keep)
                        .map(ObjectParts::kept)
                : Optional.empty();
    }
}
