package dev.siphon.controller.recovery;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.controller.volume.Homes;
import dev.siphon.csi.ByteSize;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/// Builds the PersistentVolumes of volumes: by their record, or, without one, as the chart's classes would.
///
/// @param driver the CSI driver's name
/// @param namespace the driver's, which has the Secrets with the volumes' keys
record VolumeDocuments(String driver, String namespace) {
    private static final String SPEC = "spec";
    private static final String NAME = "name";
    private static final String METADATA = "metadata";
    private static final String CAPACITY = "capacity";
    private static final String STORAGE = "storage";
    private static final String CLAIM = "claimRef";

    /// A recorded PersistentVolume.
    ///
    /// @param namespace of its claim; empty if the claim is gone
    record Recorded(JsonObject object, Optional<String> namespace) {}

    /// Parses a record; empty if it is not one of that volume.
    static Optional<Recorded> recorded(VolumeId.Provisioned volume, String text) {
        try {
            JsonObject object = JsonParser.parseString(text).getAsJsonObject();
            Optional<JsonObject> spec = part(object, SPEC);
            return spec.flatMap(all -> part(all, "csi"))
                    .flatMap(csi -> word(csi, "volumeHandle"))
                    .filter(volume.toString()::equals)
                    .map(_ -> new Recorded(
                            object, spec.flatMap(all -> part(all, CLAIM)).flatMap(claim -> word(claim, "namespace"))));
        } catch (JsonParseException | IllegalStateException notOurs) {
            return Optional.empty();
        }
    }

    private static Optional<JsonObject> part(JsonObject object, String name) {
        return Optional.ofNullable(object.get(name))
                .filter(JsonElement::isJsonObject)
                .map(JsonElement::getAsJsonObject);
    }

    private static Optional<String> word(JsonObject object, String name) {
        return Optional.ofNullable(object.get(name))
                .filter(JsonElement::isJsonPrimitive)
                .map(JsonElement::getAsString);
    }

    /// Returns the recorded PersistentVolume, with the volume's present size.
    static Document document(Recorded recorded, OptionalLong bytes) {
        JsonObject object = recorded.object().deepCopy();
        bytes.ifPresent(now -> part(object, SPEC)
                .flatMap(spec -> part(spec, CAPACITY))
                .filter(capacity -> word(capacity, STORAGE)
                        .filter(text -> isBytes(text, now))
                        .isEmpty())
                .ifPresent(capacity -> capacity.addProperty(STORAGE, Long.toString(now))));
        return recorded.namespace().isPresent()
                ? Document.of(object)
                : new Document(List.of("it was retained after its claim was deleted, so it is bound to none"), object);
    }

    private static boolean isBytes(String text, long bytes) {
        try {
            return ByteSize.bytes(text) == bytes;
        } catch (IllegalArgumentException another) {
            return false;
        }
    }

    /// Returns the PersistentVolume of a volume without a record.
    Document assumed(VolumeId.Provisioned volume, VolumeContext context, long bytes) {
        String name = driver.replaceAll("[^a-z0-9]+", "-") + "-" + volume.subvolume();
        JsonObject metadata = new JsonObject();
        metadata.addProperty(NAME, name);
        JsonObject annotations = new JsonObject();
        annotations.addProperty("pv.kubernetes.io/provisioned-by", driver);
        metadata.add("annotations", annotations);
        JsonArray modes = new JsonArray();
        modes.add(context.readOnly() ? "ReadOnlyMany" : "ReadWriteMany");
        JsonObject capacity = new JsonObject();
        capacity.addProperty(STORAGE, Long.toString(bytes));
        JsonObject attributes = new JsonObject();
        context.toMap().forEach(attributes::addProperty);
        JsonObject csi = new JsonObject();
        csi.addProperty("driver", driver);
        csi.addProperty("volumeHandle", volume.toString());
        csi.add("volumeAttributes", attributes);
        csi.add("nodeStageSecretRef", secret(name));
        csi.add("nodePublishSecretRef", secret(name));
        JsonObject spec = new JsonObject();
        spec.add("accessModes", modes);
        spec.add(CAPACITY, capacity);
        spec.add("csi", csi);
        spec.addProperty("persistentVolumeReclaimPolicy", "Retain");
        spec.addProperty("storageClassName", Homes.isAlias(volume) ? "siphon-home" : "siphon");
        spec.addProperty("volumeMode", "Filesystem");
        JsonObject object = new JsonObject();
        object.addProperty("apiVersion", "v1");
        object.addProperty("kind", "PersistentVolume");
        object.add(METADATA, metadata);
        object.add(SPEC, spec);
        return new Document(
                List.of(
                        "volume of account " + context.owner().orElse("?")
                                + ": its claim is not known, so it is bound to none; add",
                        "  spec.claimRef: {apiVersion: v1, kind: PersistentVolumeClaim, namespace: NAMESPACE,"
                                + " name: CLAIM}",
                        "assumed: accessModes, storageClassName, mounter and mountOptions, containerUser,"
                                + " reclaim policy"),
                object);
    }

    private JsonObject secret(String name) {
        JsonObject secret = new JsonObject();
        secret.addProperty(NAME, name);
        secret.addProperty("namespace", namespace);
        return secret;
    }
}
