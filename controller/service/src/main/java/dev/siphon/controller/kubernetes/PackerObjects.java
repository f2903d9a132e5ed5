package dev.siphon.controller.kubernetes;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.siphon.controller.seal.CheckOrder;
import dev.siphon.controller.seal.PackOrder;
import dev.siphon.controller.seal.SealOrder;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Packer;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The objects for the pod of a packer, or of the process that reads its image back. An administrator's PodTemplate
/// defines how the pod runs (image, memory, nodes); this class defines what it does and which volumes it sees.
///
/// @param namespace the driver's own
/// @param driver the CSI driver's name
record PackerObjects(String namespace, String driver, SealOrder order) {
    static final String SOURCE = "-source";
    static final String TARGET = "-target";

    /// A day: enough for some ten TB.
    private static final int LONGEST_SECONDS = 24 * 3600;

    /// Retries of a Job: a packer resumes where the previous one stopped.
    private static final int MORE_TRIES = 3;

    /// Command that reads an image back; the PodTemplate has the packer's.
    private static final List<String> CHECK = List.of("siphon", "dataset", "check");

    /// A pod that a drain, a preemption or a lost node ends does not count as failed (Kubernetes, "Pod failure
    /// policy").
    static final Map<String, Object> DRAINED = Map.of(
            "action", "Ignore", "onPodConditions", List.of(Map.of("type", "DisruptionTarget", "status", "True")));

    /// Fails the Job without a retry if the image does not match its manifest.
    private static final Map<String, Object> UNLIKE =
            Map.of("action", "FailJob", "onExitCodes", Map.of("operator", "In", "values", List.of(Packer.EXIT_UNLIKE)));

    private static final String METADATA = "metadata";
    private static final String LABELS = "labels";
    private static final String SPEC = "spec";
    private static final Map<String, String> OURS = Map.of(KeySecret.MANAGED_BY, KeySecret.SIPHON);

    /// A volume of the pod.
    ///
    /// @param which suffix of its name
    private record PodVolume(String which, SealOrder.Mounted content, boolean readOnly) {
        String accessMode() {
            return readOnly ? "ReadOnlyMany" : "ReadWriteMany";
        }
    }

    private List<PodVolume> volumes() {
        return switch (order) {
            case PackOrder pack ->
                List.of(new PodVolume(SOURCE, pack.source(), true), new PodVolume(TARGET, pack.target(), false));
            case CheckOrder check -> List.of(new PodVolume(TARGET, check.target(), true));
        };
    }

    /// Returns the volumes with the snapshot and the image's directory; the provisioner neither creates nor deletes
    /// them.
    List<JsonObject> persistentVolumes() {
        return volumes().stream().map(this::persistentVolume).toList();
    }

    private JsonObject persistentVolume(PodVolume volume) {
        Map<String, String> secret = Map.of("namespace", namespace, "name", order.name() + volume.which());
        Map<String, Object> csi = Map.of(
                "driver",
                driver,
                "volumeHandle",
                volume.content().id().toString(),
                "readOnly",
                volume.readOnly(),
                "volumeAttributes",
                volume.content().context().toMap(),
                "nodeStageSecretRef",
                secret,
                "nodePublishSecretRef",
                secret);
        return object(
                "v1",
                "PersistentVolume",
                volume.which(),
                Map.of(
                        "accessModes",
                        List.of(volume.accessMode()),
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

    /// Returns the claims for these.
    List<JsonObject> claims() {
        return volumes().stream().map(this::claim).toList();
    }

    private JsonObject claim(PodVolume volume) {
        return object(
                "v1",
                "PersistentVolumeClaim",
                volume.which(),
                Map.of(
                        "accessModes",
                        List.of(volume.accessMode()),
                        "storageClassName",
                        "",
                        "volumeName",
                        order.name() + volume.which(),
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

    /// Returns the packer's Job.
    ///
    /// @param template the PodTemplate's `template`
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the template has no container
    JsonObject job(JsonObject template) {
        JsonObject pod = template.deepCopy();
        JsonObject spec = JsonParts.object(pod, SPEC).orElseThrow(PackerObjects::wrong);
        JsonObject container = JsonParts.each(spec, "containers").findFirst().orElseThrow(PackerObjects::wrong);
        if (order instanceof CheckOrder) {
            container.add("command", tree(CHECK));
        }
        container.add("args", tree(args()));
        for (PodVolume volume : volumes()) {
            String name = volume.which().substring(1);
            Map<String, Object> claim =
                    Map.of("claimName", order.name() + volume.which(), "readOnly", volume.readOnly());
            add(
                    container,
                    "volumeMounts",
                    Map.of("name", name, "mountPath", "/" + name, "readOnly", volume.readOnly()));
            add(spec, "volumes", Map.of("name", name, "persistentVolumeClaim", claim));
        }
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
                        Map.of("rules", List.of(DRAINED, UNLIKE))));
        job.getAsJsonObject(SPEC).add("template", pod);
        if (order instanceof CheckOrder check && check.earlier()) {
            job.getAsJsonObject(METADATA).getAsJsonObject(LABELS).addProperty(PackerQueue.EARLIER, "true");
        }
        return job;
    }

    private List<String> args() {
        String image = "--image=/target/" + Dataset.IMAGE;
        return switch (order) {
            case PackOrder pack ->
                List.of(
                        "--source=/source" + (pack.folder().isEmpty() ? "" : "/" + pack.folder()),
                        image,
                        "--modes=" + pack.modes(),
                        "--progress");
            case CheckOrder check -> List.of(image, "--digest=" + check.digest(), "--progress");
        };
    }

    private static void add(JsonObject to, String list, Map<String, Object> element) {
        JsonArray elements = Optional.ofNullable(to.getAsJsonArray(list)).orElseGet(JsonArray::new);
        elements.add(tree(element));
        to.add(list, elements);
    }

    private static DriverException.InUse wrong() {
        return new DriverException.InUse(
                "PodTemplate " + KubernetesSealing.TEMPLATE + " has no container: restore it from the chart");
    }

    private static JsonElement tree(Object value) {
        return new Gson().toJsonTree(value);
    }
}
