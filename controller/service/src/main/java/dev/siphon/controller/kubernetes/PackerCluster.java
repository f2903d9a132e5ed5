package dev.siphon.controller.kubernetes;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.csi.DriverException;
import java.net.HttpURLConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/// Creates the objects that a packer needs, and checks that existing objects of these names are the packer's. The
/// names follow from the snapshot, and more people may write PersistentVolumes than may read volumes.
final class PackerCluster {
    private static final String VOLUMES = "api/v1/persistentvolumes";
    private static final String CLAIM = "PersistentVolumeClaim";
    private static final String METADATA = "metadata";
    private static final String SPEC = "spec";
    private static final String CSI = "csi";
    private static final List<Integer> THERE = List.of(HttpURLConnection.HTTP_CONFLICT);

    private static final Keep PARTS = new Keep(
            Set.of(
                    "apiVersion",
                    "kind",
                    "metadata.name",
                    "metadata.uid",
                    "metadata.labels",
                    "metadata.deletionTimestamp",
                    SPEC,
                    "status.phase"),
            5_000);

    private final KubernetesApi api;

    PackerCluster(KubernetesApi api) {
        this.api = api;
    }

    /// Whether both claims are bound to their volumes; creates missing ones. It leaves objects of these names alone
    /// if others created them.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if such an object exists
    boolean areBound(PackerObjects objects) {
        String claims = "api/v1/namespaces/" + api.namespace() + "/persistentvolumeclaims";
        List<JsonObject> wantedVolumes = objects.persistentVolumes();
        List<JsonObject> wantedClaims = objects.claims();
        List<JsonObject> volumes = new ArrayList<>();
        for (JsonObject wanted : wantedVolumes) {
            JsonObject volume = made("PersistentVolume", VOLUMES, wanted);
            check("PersistentVolume", wanted, isVolume(volume, wanted));
            volumes.add(volume);
        }
        List<JsonObject> bound = new ArrayList<>();
        for (JsonObject wanted : wantedClaims) {
            JsonObject claim = made(CLAIM, claims, wanted);
            check(CLAIM, wanted, holds(claim, wanted));
            bound.add(claim);
        }
        for (int i = 0; i < volumes.size(); i++) {
            Optional<String> claimed = JsonParts.text(volumes.get(i), SPEC, "claimRef", "uid");
            check(
                    "PersistentVolume",
                    wantedVolumes.get(i),
                    claimed.isEmpty() || claimed.equals(JsonParts.text(bound.get(i), METADATA, "uid")));
        }
        return IntStream.range(0, volumes.size()).allMatch(i -> isBound(volumes.get(i), bound.get(i)));
    }

    /// Creates a Job; succeeds if it exists.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a different Job has that name
    void run(String collection, JsonObject wanted) {
        JsonObject job = made("Job", collection, wanted);
        check("Job", wanted, holds(job, wanted));
    }

    private JsonObject made(String kind, String collection, JsonObject wanted) {
        String name = name(wanted);
        boolean _ = api.send(
                "create " + kind + " " + name,
                THERE,
                collection,
                request -> request.post("application/json", wanted.toString()));
        String doing = "get " + kind + " " + name;
        // an object larger than any packer's lacks parts here, so the check refuses it
        return ObjectParts.find(api, doing, collection + "/" + name, PARTS)
                .map(ObjectParts::kept)
                .orElseThrow(() ->
                        new DriverException.BackendUnavailable(kind + " " + name + " was deleted meanwhile; retry"));
    }

    private static String name(JsonObject object) {
        return JsonParts.text(object, METADATA, "name").orElse("");
    }

    private static void check(String kind, JsonObject wanted, boolean ours) {
        if (!ours) {
            throw new DriverException.InUse(kind + " " + name(wanted)
                    + " is not the packer's: somebody else made or changed it; find out who, and delete it");
        }
    }

    /// Compares the source exactly: nobody can change it later.
    private static boolean isVolume(JsonObject there, JsonObject wanted) {
        return holds(there, wanted)
                && csi(there).equals(csi(wanted))
                && JsonParts.at(there, SPEC, "mountOptions").isEmpty();
    }

    /// An API server omits `readOnly: false`.
    private static Optional<JsonObject> csi(JsonObject volume) {
        return JsonParts.object(volume, SPEC, CSI).map(JsonObject::deepCopy).map(csi -> {
            if (JsonParts.text(csi, "readOnly").equals(Optional.of("false"))) {
                csi.remove("readOnly");
            }
            return csi;
        });
    }

    /// Whether volume and claim name each other, so that a later volume of that name cannot take the claim.
    private static boolean isBound(JsonObject volume, JsonObject claim) {
        Optional<String> uid = JsonParts.text(claim, METADATA, "uid");
        return uid.isPresent()
                && JsonParts.text(volume, SPEC, "claimRef", "uid").equals(uid)
                && JsonParts.text(volume, METADATA, "deletionTimestamp").isEmpty()
                && JsonParts.text(claim, METADATA, "deletionTimestamp").isEmpty()
                && JsonParts.text(claim, "status", "phase").equals(Optional.of("Bound"));
    }

    /// Whether everything wanted exists; the API server may have added more.
    private static boolean holds(JsonElement there, JsonElement wanted) {
        if (wanted.isJsonObject()) {
            return there.isJsonObject()
                    && wanted.getAsJsonObject().entrySet().stream()
                            .allMatch(each -> Optional.ofNullable(
                                            there.getAsJsonObject().get(each.getKey()))
                                    .map(part -> holds(part, each.getValue()))
                                    .orElseGet(() -> isNothing(each.getValue())));
        }
        if (wanted.isJsonArray()) {
            return there.isJsonArray() && holdAll(there.getAsJsonArray(), wanted.getAsJsonArray());
        }
        return there.isJsonPrimitive() && there.getAsString().equals(wanted.getAsString());
    }

    private static boolean holdAll(JsonArray there, JsonArray wanted) {
        return there.size() == wanted.size()
                && IntStream.range(0, wanted.size()).allMatch(i -> holds(there.get(i), wanted.get(i)));
    }

    /// Whether an API server drops the value.
    private static boolean isNothing(JsonElement wanted) {
        return wanted.isJsonNull()
                || (wanted.isJsonObject() && wanted.getAsJsonObject().isEmpty())
                || (wanted.isJsonArray() && wanted.getAsJsonArray().isEmpty())
                || (wanted.isJsonPrimitive() && List.of("", "false").contains(wanted.getAsString()));
    }
}
