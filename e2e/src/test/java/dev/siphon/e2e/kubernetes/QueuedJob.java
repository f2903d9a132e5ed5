package dev.siphon.e2e.kubernetes;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;

/// The Workload that Kueue made for a job of any kind.
///
/// @param owner the job's name
record QueuedJob(Tenant tenant, String owner) {
    static final String VERSION = "kueue.x-k8s.io/v1beta2";

    /// The state of its admission check.
    record Check(String state, String message) {
        @Override
        public String toString() {
            return state + ": " + message;
        }
    }

    /// Waits until its check is like `pattern`, as `STATE: MESSAGE`.
    Check awaitCheck(String pattern) {
        return check(await(
                        "a check like " + pattern,
                        workload -> check(workload)
                                .filter(check -> check.toString().matches("(?s)" + pattern))
                                .isPresent()))
                .orElseThrow();
    }

    /// Waits until it is as described.
    GenericKubernetesResource await(String what, Predicate<GenericKubernetesResource> condition) {
        return tenant
                .cluster()
                .awaitAll(
                        "Workload of " + owner + ": " + what,
                        tenant.cluster()
                                .client()
                                .genericKubernetesResources(VERSION, "Workload")
                                .inNamespace(tenant.namespace()),
                        all -> all.stream().filter(this::isOurs).anyMatch(condition))
                .stream()
                .filter(this::isOurs)
                .findFirst()
                .orElseThrow();
    }

    /// Waits until it has this condition.
    ///
    /// @param reason a prefix
    void awaitCondition(String type, String reason) {
        var _ = await(type, workload -> has(workload, type, reason));
    }

    /// Returns whether it has this condition now.
    boolean has(String type) {
        return has(await("is there", _ -> true), type, "");
    }

    /// Returns whether an object has this condition.
    static boolean has(GenericKubernetesResource workload, String type, String reason) {
        return list(workload, "conditions").stream()
                .anyMatch(each -> type.equals(each.get("type"))
                        && "True".equals(each.get("status"))
                        && String.valueOf(each.get("reason")).startsWith(reason));
    }

    private boolean isOurs(GenericKubernetesResource workload) {
        return workload.getMetadata().getOwnerReferences().stream().anyMatch(each -> owner.equals(each.getName()));
    }

    /// Returns the name of the Workload.
    String name() {
        return await("is there", _ -> true).getMetadata().getName();
    }

    private static Optional<Check> check(GenericKubernetesResource workload) {
        return list(workload, "admissionChecks").stream()
                .map(each -> new Check(String.valueOf(each.get("state")), String.valueOf(each.get("message"))))
                .findFirst();
    }

    private static List<Map<?, ?>> list(GenericKubernetesResource workload, String name) {
        List<?> found = Objects.requireNonNullElse(workload.<List<?>>get("status", name), List.of());
        return found.stream().<Map<?, ?>>map(each -> (Map<?, ?>) each).toList();
    }
}
