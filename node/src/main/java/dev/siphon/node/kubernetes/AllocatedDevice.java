package dev.siphon.node.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.node.pod.Pod;
import java.util.List;
import java.util.Optional;

/// A device that a ResourceClaim was allocated, by what names it in the whole cluster (`resource.k8s.io/v1`,
/// DeviceRequestAllocationResult).
record AllocatedDevice(String driver, String pool, String device) {
    /// Those of the claims that are reserved for `pod`, each once. Without those that are merely looked at
    /// (`adminAccess`: monitoring), which other pods have.
    ///
    /// @param claim one of the pod's namespace
    static List<AllocatedDevice> of(JsonObject claim, Pod pod) {
        Optional<JsonObject> status = Json.object(claim, "status");
        boolean reserved = status.stream()
                .flatMap(known -> Json.objects(known, "reservedFor"))
                .anyMatch(each -> isPod(each, pod));
        return reserved
                ? status
                        .flatMap(known -> Json.object(known, "allocation"))
                        .flatMap(known -> Json.object(known, "devices"))
                        .stream()
                        .flatMap(known -> Json.objects(known, "results"))
                        .filter(result -> !Json.isTrue(result, "adminAccess"))
                        .map(AllocatedDevice::ofResult)
                        .distinct()
                        .toList()
                : List.of();
    }

    private static boolean isPod(JsonObject consumer, Pod pod) {
        return Json.text(consumer, "apiGroup").orElse("").isEmpty()
                && Json.text(consumer, "resource").filter("pods"::equals).isPresent()
                && Json.text(consumer, "name").filter(pod.name()::equals).isPresent()
                && (pod.uid().isEmpty()
                        || Json.text(consumer, "uid").filter(pod.uid()::equals).isPresent());
    }

    private static AllocatedDevice ofResult(JsonObject result) {
        return new AllocatedDevice(
                Json.text(result, "driver").orElse(""),
                Json.text(result, "pool").orElse(""),
                Json.text(result, "device").orElse(""));
    }
}
