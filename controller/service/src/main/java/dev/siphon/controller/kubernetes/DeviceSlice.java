package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import java.util.Optional;

/// What counts of a ResourceSlice: how many devices of which driver a node has, not which.
///
/// @param generation only slices of a pool's newest generation count, as for the scheduler
/// @param node empty if the devices belong to no single node
/// @param isShared whether several claims may have one of them
record DeviceSlice(DevicePool pool, int generation, Optional<String> node, int devices, boolean isShared) {
    private static final String SPEC = "spec";
    private static final String POOL = "pool";

    /// The parts that count: drivers write up to 128 devices with many attributes each.
    static final Keep PARTS = Keep.of(
            "spec.driver",
            "spec.nodeName",
            "spec.pool.name",
            "spec.pool.generation",
            "spec.devices.name",
            "spec.devices.allowMultipleAllocations");

    /// A pool of a driver's devices.
    record DevicePool(String driver, String name) {}

    static DeviceSlice of(JsonObject slice) {
        return new DeviceSlice(
                new DevicePool(
                        JsonParts.text(slice, SPEC, "driver").orElse(""),
                        JsonParts.text(slice, SPEC, POOL, "name").orElse("")),
                JsonParts.object(slice, SPEC, POOL)
                        .map(pool -> JsonParts.number(pool, "generation"))
                        .orElse(0),
                JsonParts.text(slice, SPEC, "nodeName").filter(name -> !name.isEmpty()),
                (int) JsonParts.each(slice, SPEC, "devices").count(),
                JsonParts.each(slice, SPEC, "devices")
                        .anyMatch(device -> JsonParts.text(device, "allowMultipleAllocations")
                                .filter("true"::equals)
                                .isPresent()));
    }
}
