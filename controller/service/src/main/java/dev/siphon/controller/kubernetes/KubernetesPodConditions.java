package dev.siphon.controller.kubernetes;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.siphon.controller.warm.DataReadiness;
import dev.siphon.controller.warm.PodConditions;
import dev.siphon.csi.VolumeId;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// Reads the watched pods on nodes, and writes one condition of pods.
final class KubernetesPodConditions implements PodConditions {
    /// Kubernetes, "Update API Objects in Place Using kubectl patch": it merges lists, conditions by their `type`, and
    /// leaves fields that it does not name.
    private static final String STRATEGIC_MERGE = "application/strategic-merge-patch+json";

    private final KubernetesApi api;
    private final RunningPods running;
    private final PersistentVolumes volumes;
    private final DatasetAccesses accesses;

    KubernetesPodConditions(
            KubernetesApi api, RunningPods running, PersistentVolumes volumes, DatasetAccesses accesses) {
        this.api = api;
        this.running = running;
        this.volumes = volumes;
        this.accesses = accesses;
    }

    @Override
    public List<PodOnNode> onNodes(Set<String> nodes, Set<VolumeId.DatasetVolume> declared) {
        List<RunningPods.RunningPod> some = running.all().stream()
                .filter(pod -> pod.isReady().isPresent() || nodes.contains(pod.node()))
                .toList();
        if (some.isEmpty()) {
            return List.of();
        }
        ShownDatasets shown = ShownDatasets.of(volumes, accesses, declared);
        return some.stream()
                .map(pod -> new PodOnNode(
                        new PodIdentity(pod.namespace(), pod.name(), pod.uid()),
                        pod.node(),
                        shown.of(pod),
                        pod.isReady()))
                .filter(pod -> !pod.datasets().isEmpty())
                .toList();
    }

    @Override
    public boolean write(PodIdentity pod, DataReadiness readiness, Optional<Instant> since) {
        String title = "pod " + pod.namespace() + "/" + pod.name();
        JsonObject condition = new JsonObject();
        condition.addProperty("type", DataReadiness.CONDITION);
        condition.addProperty("status", readiness.isReady() ? "True" : "False");
        condition.addProperty("reason", readiness.reason().toString());
        condition.addProperty("message", title + " " + readiness.sentence());
        since.ifPresent(time -> condition.addProperty(
                "lastTransitionTime", time.truncatedTo(ChronoUnit.SECONDS).toString()));
        JsonArray conditions = new JsonArray();
        conditions.add(condition);
        JsonObject status = new JsonObject();
        status.add("conditions", conditions);
        JsonObject metadata = new JsonObject();
        metadata.addProperty("uid", pod.uid());
        JsonObject change = new JsonObject();
        change.add("metadata", metadata);
        change.add("status", status);
        return api.send(
                "patch status of " + title,
                List.of(HttpURLConnection.HTTP_NOT_FOUND, HttpURLConnection.HTTP_CONFLICT),
                "api/v1/namespaces/" + pod.namespace() + "/pods/" + pod.name() + "/status",
                request -> request.patch(STRATEGIC_MERGE, change.toString()));
    }
}
