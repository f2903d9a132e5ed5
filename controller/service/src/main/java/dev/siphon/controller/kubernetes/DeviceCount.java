package dev.siphon.controller.kubernetes;

import dev.siphon.controller.kubernetes.DeviceSlice.DevicePool;
import dev.siphon.controller.warm.ResourceAmounts;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Counts the devices of some drivers of Dynamic Resource Allocation per node, from ResourceSlices and
/// ResourceClaims.
final class DeviceCount {
    private final Set<String> drivers;
    private final Map<DevicePool, DeviceSlice> pools = new HashMap<>();
    private final Map<DevicePool, Integer> taken = new HashMap<>();

    /// Drivers with devices that belong to no single node, or that several claims may share.
    private final Set<String> unlike = new HashSet<>();

    DeviceCount(Set<String> drivers) {
        this.drivers = Set.copyOf(drivers);
    }

    /// Returns the resource name for a driver's devices.
    static String resource(String driver) {
        return "resource.k8s.io/" + driver;
    }

    /// Adds a slice.
    void add(DeviceSlice slice) {
        String driver = slice.pool().driver();
        if (!drivers.contains(driver)) {
            return;
        }
        if (slice.node().isEmpty() || slice.isShared()) {
            unlike.add(driver);
            return;
        }
        pools.merge(slice.pool(), slice, DeviceCount::newer);
    }

    private static DeviceSlice newer(DeviceSlice one, DeviceSlice other) {
        if (one.generation() == other.generation()) {
            return new DeviceSlice(
                    one.pool(), one.generation(), one.node(), one.devices() + other.devices(), one.isShared());
        }
        return one.generation() > other.generation() ? one : other;
    }

    /// Subtracts a claim's devices.
    void subtract(DeviceAllocation allocation) {
        allocation.taken().forEach((pool, count) -> {
            if (drivers.contains(pool.driver())) {
                taken.merge(pool, count, Integer::sum);
            }
        });
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
        pools.forEach((pool, found) -> add(room, found, found.devices()));
        return room;
    }

    /// Returns how many of these are taken.
    Map<String, ResourceAmounts> taken() {
        Map<String, ResourceAmounts> all = new HashMap<>();
        taken.forEach((pool, count) -> Optional.ofNullable(pools.get(pool)).ifPresent(found -> add(all, found, count)));
        return all;
    }

    private void add(Map<String, ResourceAmounts> to, DeviceSlice of, int count) {
        String driver = of.pool().driver();
        if (!unlike.contains(driver)) {
            of.node().ifPresent(node -> to.merge(node, amount(driver, count), ResourceAmounts::plus));
        }
    }

    static ResourceAmounts amount(String driver, int count) {
        return new ResourceAmounts(Map.of(resource(driver), BigDecimal.valueOf(count)));
    }
}
