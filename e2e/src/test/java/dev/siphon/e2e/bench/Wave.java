package dev.siphon.e2e.bench;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/// One wave: creates all claims at once, all pods at once when every claim is bound, and deletes everything when
/// every pod is ready. Each pod writes to its volume before it becomes ready.
///
/// @param storageClass of the claims
/// @param names of claims and pods alike
record Wave(KubernetesApi api, Milestones milestones, Setting setting, String storageClass, List<String> names) {
    /// Fails if the volume cannot be written; exits on SIGTERM.
    private static final String SCRIPT = "trap 'exit 0' TERM; echo here >/data/here || exit 1; sleep infinity & wait";

    /// @param uid the uid and gid that the pods run as
    /// @param limit for one step of the whole wave
    record Setting(String namespace, int uid, Duration limit) {}

    Wave {
        names = List.copyOf(names);
    }

    /// Runs the wave and leaves neither claim nor pod.
    ///
    /// @throws IllegalStateException as [Milestones#since]
    Map<Milestone, Timings> run() {
        Map<Milestone, Timings> all = new EnumMap<>(Milestone.class);
        measure(all, this::claim, Milestone.CLAIM_BOUND);
        measure(all, this::pod, Milestone.POD_READY);
        measure(all, this::remove, Milestone.POD_GONE, Milestone.VOLUME_GONE);
        return all;
    }

    private void measure(Map<Milestone, Timings> all, Consumer<String> request, Milestone... reached) {
        Map<String, Long> began = new ConcurrentHashMap<>();
        Timings _ = Load.run(names.size(), names.size(), index -> {
            String name = names.get(index);
            began.put(name, System.nanoTime());
            request.accept(name);
            return true;
        });
        for (Milestone each : reached) {
            all.put(each, milestones.since(began, each, setting.limit()));
        }
    }

    private void claim(String name) {
        api.create(claims(), """
                {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "%s"},
                 "spec": {"storageClassName": "%s", "accessModes": ["ReadWriteMany"],
                          "resources": {"requests": {"storage": "64Mi"}}}}
                """.formatted(name, storageClass));
    }

    /// Mounts no volume but the claim's: a service account token would be a second one.
    private void pod(String name) {
        api.create(pods(), """
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s"},
                 "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 10,
                          "automountServiceAccountToken": false, "enableServiceLinks": false,
                          "securityContext": {"runAsUser": %d, "runAsGroup": %d},
                          "containers": [{"name": "main", "image": "siphon.test/pause:1", "imagePullPolicy": "Never",
                                          "command": ["sh", "-c", "%s"],
                                          "volumeMounts": [{"name": "data", "mountPath": "/data"}]}],
                          "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "%s"}}]}}
                """.formatted(name, setting.uid(), setting.uid(), SCRIPT, name));
    }

    private void remove(String name) {
        api.delete(pods() + "/" + name);
        api.delete(claims() + "/" + name);
    }

    private String claims() {
        return "/api/v1/namespaces/" + setting.namespace() + "/persistentvolumeclaims";
    }

    private String pods() {
        return "/api/v1/namespaces/" + setting.namespace() + "/pods";
    }
}
