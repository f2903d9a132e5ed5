package dev.siphon.node.kubernetes;

import com.google.gson.stream.JsonReader;
import dev.siphon.node.pod.Pod;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// A device that a ResourceClaim was allocated, by what names it in the whole cluster (`resource.k8s.io/v1`,
/// DeviceRequestAllocationResult).
record AllocatedDevice(String driver, String pool, String device) {
    private static final String GROUP = "apiGroup";
    private static final String RESOURCE = "resource";
    private static final String NAME = "name";
    private static final String UID = "uid";
    private static final Set<String> CONSUMER = Set.of(GROUP, RESOURCE, NAME, UID);

    private static final String DRIVER = "driver";
    private static final String POOL = "pool";
    private static final String DEVICE = "device";
    private static final String ADMIN_ACCESS = "adminAccess";
    private static final Set<String> RESULT = Set.of(DRIVER, POOL, DEVICE, ADMIN_ACCESS);

    /// Those of the claims that are reserved for `pod`, each once. Without those that are merely looked at
    /// (`adminAccess`:
    /// monitoring), which other pods have.
    ///
    /// @param claim one of the pod's namespace comes next; of what its makers wrote, nothing is kept
    static List<AllocatedDevice> of(JsonReader claim, Pod pod) throws IOException {
        List<Boolean> reserved = new ArrayList<>();
        Set<AllocatedDevice> results = new LinkedHashSet<>();
        JsonFields.Reading consumer = each -> {
            if (isPod(JsonFields.texts(each, CONSUMER), pod)) {
                reserved.add(true);
            }
        };
        JsonFields.Reading result =
                each -> ofResult(JsonFields.texts(each, RESULT)).ifPresent(results::add);
        JsonFields.Reading devices =
                each -> JsonFields.object(each, Map.of("results", all -> JsonFields.array(all, result)));
        JsonFields.Reading allocation = each -> JsonFields.object(each, Map.of("devices", devices));
        JsonFields.Reading status = each -> JsonFields.object(
                each, Map.of("reservedFor", all -> JsonFields.array(all, consumer), "allocation", allocation));
        JsonFields.object(claim, Map.of("status", status));
        return reserved.isEmpty() ? List.of() : List.copyOf(results);
    }

    private static boolean isPod(Map<String, String> consumer, Pod pod) {
        return consumer.getOrDefault(GROUP, "").isEmpty()
                && "pods".equals(consumer.get(RESOURCE))
                && pod.name().equals(consumer.get(NAME))
                && (pod.uid().isEmpty() || pod.uid().equals(consumer.get(UID)));
    }

    private static Optional<AllocatedDevice> ofResult(Map<String, String> result) {
        return result.containsKey(ADMIN_ACCESS)
                ? Optional.empty()
                : Optional.of(new AllocatedDevice(
                        result.getOrDefault(DRIVER, ""),
                        result.getOrDefault(POOL, ""),
                        result.getOrDefault(DEVICE, "")));
    }
}
