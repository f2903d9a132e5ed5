package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.DeviceSlice.DevicePool;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.kubernetes.PersistentVolumes.ClaimKey;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/// What counts of a ResourceClaim that has its devices: how many of which pools they are.
///
/// @param claim the claim's [#key]
record DeviceAllocation(long claim, Map<DevicePool, Integer> taken) {
    static final Keep PARTS = Keep.of("metadata.namespace", "metadata.name", "status.allocation.devices.results");

    DeviceAllocation {
        taken = Map.copyOf(taken);
    }

    /// Returns a number for a claim that is unique in practice.
    static long key(String namespace, String name) {
        return RunningPods.key(new ClaimKey(namespace, name));
    }

    /// Returns a claim's devices; empty if it has none yet. Devices with `adminAccess` remain available to others.
    ///
    /// @param shared returns the kept instance of a pool
    static Optional<DeviceAllocation> of(JsonObject claim, UnaryOperator<DevicePool> shared) {
        if (JsonParts.at(claim, "status", "allocation").isEmpty()) {
            return Optional.empty();
        }
        Map<DevicePool, Integer> taken = new HashMap<>();
        JsonParts.each(claim, "status", "allocation", "devices", "results")
                .filter(result -> JsonParts.text(result, "adminAccess")
                        .filter("true"::equals)
                        .isEmpty())
                .map(result -> shared.apply(new DevicePool(
                        JsonParts.text(result, "driver").orElse(""),
                        JsonParts.text(result, "pool").orElse(""))))
                .forEach(pool -> taken.merge(pool, 1, Integer::sum));
        return Optional.of(new DeviceAllocation(
                key(
                        JsonParts.text(claim, "metadata", "namespace").orElse(""),
                        JsonParts.text(claim, "metadata", "name").orElse("")),
                taken));
    }
}
