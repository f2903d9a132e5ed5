package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.warm.ResourceAmounts;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Counts the devices of some drivers of Dynamic Resource Allocation per node, from ResourceSlices and
/// ResourceClaims as they arrive. It keeps only the numbers, not the devices.
final class DeviceCount {
    private static final String SPEC = "spec";
    private static final String POOL = "pool";

    private final Set<String> drivers;
    private final Map<Pool, CountedSlice> pools = new HashMap<>();
    private final Map<Pool, Integer> taken = new HashMap<>();

    /// Drivers with devices that belong to no single node, or that several claims may share.
    private final Set<String> unlike = new HashSet<>();

    private record Pool(String driver, String name) {}

    /// Only slices of a pool's newest generation count, as for the scheduler.
    private record CountedSlice(int generation, String node, int devices) {}

    DeviceCount(Set<String> drivers) {
        this.drivers = Set.copyOf(drivers);
    }

    /// Returns the resource name for a driver's devices.
    static String resource(String driver) {
        return "resource.k8s.io/" + driver;
    }

    /// Adds a slice.
    void slice(JsonObject slice) {
        String driver = JsonParts.text(slice, SPEC, "driver").orElse("");
        if (!drivers.contains(driver)) {
            return;
        }
        Optional<String> node = JsonParts.text(slice, SPEC, "nodeName").filter(name -> !name.isEmpty());
        boolean shared = JsonParts.each(slice, SPEC, "devices")
                .anyMatch(device -> JsonParts.text(device, "allowMultipleAllocations")
                        .filter("true"::equals)
                        .isPresent());
        if (node.isEmpty() || shared) {
            unlike.add(driver);
            return;
        }
        int generation = JsonParts.object(slice, SPEC, POOL)
                .map(pool -> JsonParts.number(pool, "generation"))
                .orElse(0);
        CountedSlice found = new CountedSlice(generation, node.get(), (int)
                JsonParts.each(slice, SPEC, "devices").count());
        pools.merge(new Pool(driver, JsonParts.text(slice, SPEC, POOL, "name").orElse("")), found, DeviceCount::newer);
    }

    private static CountedSlice newer(CountedSlice one, CountedSlice other) {
        if (one.generation() == other.generation()) {
            return new CountedSlice(one.generation(), one.node(), one.devices() + other.devices());
        }
        return one.generation() > other.generation() ? one : other;
    }

    /// Subtracts a claim's devices. Devices with `adminAccess` remain available to others.
    void subtractClaim(JsonObject claim) {
        JsonParts.each(claim, "status", "allocation", "devices", "results")
                .filter(result -> JsonParts.text(result, "adminAccess")
                        .filter("true"::equals)
                        .isEmpty())
                .map(result -> new Pool(
                        JsonParts.text(result, "driver").orElse(""),
                        JsonParts.text(result, POOL).orElse("")))
                .filter(pool -> drivers.contains(pool.driver()))
                .forEach(pool -> taken.merge(pool, 1, Integer::sum));
    }

    /// Returns the drivers whose devices can be counted.
    Set<String> countable() {
        Set<String> countable = new HashSet<>(drivers);
        countable.removeAll(unlike);
        return countable;
    }

    /// Returns the devices of each node.
    Map<String, ResourceAmounts> room() {
        Map<String, ResourceAmounts> room = new HashMap<>();
        pools.forEach((pool, found) -> add(room, found.node(), pool.driver(), found.devices()));
        return room;
    }

    /// Returns how many of these are taken.
    Map<String, ResourceAmounts> taken() {
        Map<String, ResourceAmounts> all = new HashMap<>();
        taken.forEach((pool, count) ->
                Optional.ofNullable(pools.get(pool)).ifPresent(found -> add(all, found.node(), pool.driver(), count)));
        return all;
    }

    private void add(Map<String, ResourceAmounts> to, String node, String driver, int count) {
        if (!unlike.contains(driver)) {
            to.merge(node, amount(driver, count), ResourceAmounts::plus);
        }
    }

    static ResourceAmounts amount(String driver, int count) {
        return new ResourceAmounts(Map.of(resource(driver), BigDecimal.valueOf(count)));
    }
}
