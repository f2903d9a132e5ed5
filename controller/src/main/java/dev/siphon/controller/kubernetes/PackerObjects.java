package dev.siphon.controller.kubernetes;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.siphon.controller.seal.PackOrder;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// What a packer's pod needs, as objects. How the pod is run (image, memory, where) an administrator says in the
/// PodTemplate; what it does and what it sees is said here.
///
/// @param namespace the driver's own
/// @param driver the CSI driver's name
record PackerObjects(String namespace, String driver, PackOrder order) {
    static final String SOURCE = "-source";
    static final String TARGET = "-target";

    /// A day: some ten TB.
    private static final int LONGEST_SECONDS = 24 * 3600;

    /// A packer goes on where the one before it stopped.
    private static final int MORE_TRIES = 3;

    /// A pod that a drain, a preemption or a lost node ends is not one that has failed (Kubernetes, "Pod failure
    /// policy").
    private static final Map<String, Object> DRAINS = Map.of(
            "rules",
            List.of(Map.of(
                    "action",
                    "Ignore",
                    "onPodConditions",
                    List.of(Map.of("type", "DisruptionTarget", "status", "True")))));

    private static final String METADATA = "metadata";
    private static final String LABELS = "labels";
    private static final String SPEC = "spec";
    private static final Map<String, String> OURS = Map.of(KeySecret.MANAGED_BY, KeySecret.SIPHON);

    /// The volumes by which the pod sees the snapshot and the image's directory; nothing provisions or removes them.
    List<JsonObject> persistentVolumes() {
        return List.of(
                persistentVolume(SOURCE, order.source(), "ReadOnlyMany"),
                persistentVolume(TARGET, order.target(), "ReadWriteMany"));
    }

    private JsonObject persistentVolume(String which, PackOrder.Mounted volume, String accessMode) {
        Map<String, String> secret = Map.of("namespace", namespace, "name", order.name() + which);
        Map<String, Object> csi = Map.of(
                "driver",
                driver,
                "volumeHandle",
                volume.id().toString(),
                "readOnly",
                volume.id() instanceof VolumeId.Provisioned,
                "volumeAttributes",
                volume.context().toMap(),
                "nodeStageSecretRef",
                secret,
                "nodePublishSecretRef",
                secret);
        return object(
                "v1",
                "PersistentVolume",
                which,
                Map.of(
                        "accessModes",
                        List.of(accessMode),
                        "capacity",
                        Map.of("storage", "1Gi"),
                        "storageClassName",
                        "",
                        "persistentVolumeReclaimPolicy",
                        "Retain",
                        "claimRef",
                        secret,
                        "csi",
                        csi));
    }

    /// The claims to these.
    List<JsonObject> claims() {
        return List.of(claim(SOURCE, "ReadOnlyMany"), claim(TARGET, "ReadWriteMany"));
    }

    private JsonObject claim(String which, String accessMode) {
        return object(
                "v1",
                "PersistentVolumeClaim",
                which,
                Map.of(
                        "accessModes",
                        List.of(accessMode),
                        "storageClassName",
                        "",
                        "volumeName",
                        order.name() + which,
                        "resources",
                        Map.of("requests", Map.of("storage", "1Gi"))));
    }

    private JsonObject object(String version, String kind, String which, Map<String, Object> spec) {
        return tree(Map.of(
                        "apiVersion",
                        version,
                        "kind",
                        kind,
                        METADATA,
                        Map.of("name", order.name() + which, LABELS, OURS),
                        SPEC,
                        spec))
                .getAsJsonObject();
    }

    /// The packer itself.
    ///
    /// @param template the PodTemplate's `template`
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if that is for no packer
    JsonObject job(JsonObject template) {
        JsonObject pod = template.deepCopy();
        JsonObject spec = JsonParts.object(pod, SPEC).orElseThrow(PackerObjects::wrong);
        JsonObject container = JsonParts.each(spec, "containers").findFirst().orElseThrow(PackerObjects::wrong);
        container.add(
                "args",
                tree(List.of(
                        "--source=/source",
                        "--image=/target/" + Dataset.IMAGE,
                        "--modes=" + order.modes(),
                        "--progress")));
        add(container, "volumeMounts", Map.of("name", "source", "mountPath", "/source", "readOnly", true));
        add(container, "volumeMounts", Map.of("name", "target", "mountPath", "/target"));
        add(spec, "volumes", Map.of("name", "source", "persistentVolumeClaim", mounted(SOURCE, true)));
        add(spec, "volumes", Map.of("name", "target", "persistentVolumeClaim", mounted(TARGET, false)));
        JsonObject job = object(
                "batch/v1",
                "Job",
                "",
                Map.of(
                        "backoffLimit",
                        MORE_TRIES,
                        "activeDeadlineSeconds",
                        LONGEST_SECONDS,
                        "podFailurePolicy",
                        DRAINS));
        job.getAsJsonObject(SPEC).add("template", pod);
        return job;
    }

    private Map<String, Object> mounted(String which, boolean readOnly) {
        return Map.of("claimName", order.name() + which, "readOnly", readOnly);
    }

    private static void add(JsonObject to, String list, Map<String, Object> element) {
        JsonArray elements = Optional.ofNullable(to.getAsJsonArray(list)).orElseGet(JsonArray::new);
        elements.add(tree(element));
        to.add(list, elements);
    }

    private static DriverException.InUse wrong() {
        return new DriverException.InUse(
                "PodTemplate " + KubernetesSealing.TEMPLATE + " has no container: it is the chart's to make");
    }

    private static JsonElement tree(Object value) {
        return new Gson().toJsonTree(value);
    }
}
