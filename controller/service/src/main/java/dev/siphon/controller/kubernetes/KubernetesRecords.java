package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.explain.NamespacedName;
import dev.siphon.controller.recovery.ClusterRecords;
import dev.siphon.controller.recovery.MetadataWriter;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Reads PersistentVolumes and VolumeSnapshotContents, which only administrators and the sidecars write.
final class KubernetesRecords implements ClusterRecords {
    private static final Logger LOG = LoggerFactory.getLogger(KubernetesRecords.class);

    private static final String VOLUMES = "api/v1/persistentvolumes";
    private static final String SNAPSHOTS = "apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents";
    private static final String SPEC = "spec";
    private static final String CSI = "csi";
    private static final String DRIVER = "driver";
    private static final String CLAIM = "claimRef";
    private static final String NAME = "name";
    private static final String NAMESPACE = "namespace";
    private static final String METADATA = "metadata";
    private static final String ANNOTATIONS = "annotations";
    private static final String ATTRIBUTES = "volumeAttributes";

    /// Annotations that the provisioner requires to delete a volume, with the secrets that it uses.
    private static final Set<String> OF_PROVISIONER = Set.of(
            "pv.kubernetes.io/provisioned-by",
            "volume.kubernetes.io/provisioner-deletion-secret-name",
            "volume.kubernetes.io/provisioner-deletion-secret-namespace");

    private final KubernetesApi api;
    private final String driver;

    /// @param driver the CSI driver's name
    KubernetesRecords(KubernetesApi api, String driver) {
        this.api = api;
        this.driver = driver;
    }

    @Override
    public void eachVolume(Consumer<VolumeRecord> each) {
        boolean _ = api.listCustom(
                "list PersistentVolumes",
                VOLUMES,
                object -> volume(object, driver).ifPresent(each));
    }

    @Override
    public Optional<VolumeRecord> volume(String persistentVolume) {
        if (!NamespacedName.isPart(persistentVolume)) {
            return Optional.empty();
        }
        String doing = "get PersistentVolume " + persistentVolume;
        return api.read(doing, VOLUMES + "/" + persistentVolume, body -> KubernetesApi.object(doing, body))
                .flatMap(object -> volume(object, driver));
    }

    /// Returns a PersistentVolume in a form that another Kubernetes accepts; empty for another driver's, or a
    /// volume that the driver did not provision.
    static Optional<VolumeRecord> volume(JsonObject object, String driver) {
        return JsonParts.object(object, SPEC, CSI)
                .filter(csi -> JsonParts.text(csi, DRIVER).equals(Optional.of(driver)))
                .flatMap(csi -> JsonParts.text(csi, "volumeHandle"))
                .flatMap(VolumeId::tryParse)
                .filter(VolumeId.Provisioned.class::isInstance)
                .map(id -> {
                    JsonObject bare = bare(object);
                    return new VolumeRecord((VolumeId.Provisioned) id, bare.toString(), metadata(bare));
                });
    }

    private static Map<String, String> metadata(JsonObject bare) {
        Map<String, String> metadata = new HashMap<>();
        JsonParts.text(bare, METADATA, NAME).ifPresent(name -> metadata.put(MetadataWriter.VOLUME, name));
        JsonParts.text(bare, SPEC, CLAIM, NAMESPACE).ifPresent(name -> metadata.put(MetadataWriter.NAMESPACE, name));
        JsonParts.text(bare, SPEC, CLAIM, NAME).ifPresent(name -> metadata.put(MetadataWriter.CLAIM, name));
        return metadata;
    }

    private static JsonObject bare(JsonObject object) {
        JsonObject metadata = new JsonObject();
        metadata.addProperty(NAME, JsonParts.text(object, METADATA, NAME).orElse(""));
        JsonObject annotations = new JsonObject();
        JsonParts.map(object, METADATA, ANNOTATIONS).forEach((name, value) -> {
            if (OF_PROVISIONER.contains(name)) {
                annotations.addProperty(name, value);
            }
        });
        metadata.add(ANNOTATIONS, annotations);
        JsonObject spec =
                JsonParts.object(object, SPEC).map(JsonObject::deepCopy).orElseGet(JsonObject::new);
        Optional<JsonObject> claim = JsonParts.object(spec, CLAIM)
                .filter(_ -> JsonParts.text(object, "status", "phase")
                        .filter(PersistentVolumes.RELEASED::contains)
                        .isEmpty());
        spec.remove(CLAIM);
        claim.ifPresent(found -> spec.add(CLAIM, byName(found)));
        JsonParts.object(spec, CSI, ATTRIBUTES)
                .ifPresent(attributes ->
                        attributes.entrySet().removeIf(each -> VolumeContext.isOfKubernetes(each.getKey())));
        JsonObject bare = new JsonObject();
        bare.addProperty("apiVersion", "v1");
        bare.addProperty("kind", "PersistentVolume");
        bare.add(METADATA, metadata);
        bare.add(SPEC, spec);
        return bare;
    }

    /// Omits the claim's uid, which differs in another Kubernetes.
    private static JsonObject byName(JsonObject claim) {
        JsonObject named = new JsonObject();
        named.addProperty("apiVersion", "v1");
        named.addProperty("kind", "PersistentVolumeClaim");
        named.addProperty(NAMESPACE, JsonParts.text(claim, NAMESPACE).orElse(""));
        named.addProperty(NAME, JsonParts.text(claim, NAME).orElse(""));
        return named;
    }

    /// A cluster without snapshots lacks this kind, and a driver without them lacks permission.
    @Override
    public void eachSnapshot(Consumer<SnapshotRecord> each) {
        try {
            boolean _ = api.listCustom(
                    "list VolumeSnapshotContents",
                    SNAPSHOTS,
                    object -> snapshot(object).ifPresent(each));
        } catch (DriverException.AccessDenied installedWithoutSnapshots) {
            LOG.debug("no snapshots are looked for: {}", installedWithoutSnapshots.getMessage());
        }
    }

    private Optional<SnapshotRecord> snapshot(JsonObject object) {
        if (!JsonParts.text(object, SPEC, DRIVER).equals(Optional.of(driver))) {
            return Optional.empty();
        }
        return JsonParts.text(object, "status", "snapshotHandle")
                .or(() -> JsonParts.text(object, SPEC, "source", "snapshotHandle"))
                .flatMap(SnapshotId::tryParse)
                .map(id -> new SnapshotRecord(
                        id,
                        JsonParts.text(object, SPEC, "volumeSnapshotRef", NAMESPACE)
                                .orElse(""),
                        JsonParts.text(object, SPEC, "volumeSnapshotRef", NAME).orElse(""),
                        JsonParts.text(object, SPEC, "volumeSnapshotClassName").orElse("")))
                .filter(found -> !found.namespace().isEmpty() && !found.name().isEmpty());
    }
}
