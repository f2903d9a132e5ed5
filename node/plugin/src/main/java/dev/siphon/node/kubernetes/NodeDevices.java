package dev.siphon.node.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.node.device.HeldDevice;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What the drivers of Dynamic Resource Allocation say of the devices of a node (`resource.k8s.io/v1`, ResourceSlice).
///
/// @param byName what is known of each
record NodeDevices(Map<AllocatedDevice, HeldDevice> byName) {
    /// None.
    static final NodeDevices NONE = new NodeDevices(Map.of());

    /// Before the attributes that mean the same with every driver (`k8s.io/dynamic-resource-allocation`,
    /// `deviceattribute`).
    private static final String STANDARD = "resource.kubernetes.io/";

    /// Attributes whose values name a device, the most exact first, and then what it is a part of: the standard one;
    /// NVIDIA's and AMD's older drivers, Intel's; `uuid` NVIDIA's; AMD's partitions, NVIDIA's MIG devices.
    private static final List<String> NAMES =
            List.of("pciBusID", "pcieBusID", "pciAddr", "pciAddress", "uuid", "parentPciAddr", "parentUUID");

    /// A number, or, of a device that is as near to several, a list.
    private static final String NUMA_NODE = "numaNode";

    NodeDevices {
        byName = Map.copyOf(byName);
    }

    private record Pool(String driver, String name) {}

    /// Of each pool the slices of the newest generation count, as they do for the scheduler.
    private record Found(long generation, Map<AllocatedDevice, HeldDevice> byName) {}

    /// Slices of a node, one after the other.
    static final class Slices {
        private final Map<Pool, Found> pools = new HashMap<>();

        void add(JsonObject slice) {
            Json.object(slice, "spec").ifPresent(spec -> {
                long generation = generation(spec);
                Pool pool = pool(spec);
                Found found = pools.get(pool);
                if (found == null || found.generation() < generation) {
                    found = new Found(generation, new HashMap<>());
                    pools.put(pool, found);
                }
                if (found.generation() == generation) {
                    Map<AllocatedDevice, HeldDevice> devices = found.byName();
                    Json.objects(spec, "devices").forEach(device -> put(devices, pool, device));
                }
            });
        }

        private static void put(Map<AllocatedDevice, HeldDevice> devices, Pool pool, JsonObject device) {
            AllocatedDevice named = new AllocatedDevice(
                    pool.driver(), pool.name(), Json.text(device, "name").orElse(""));
            devices.put(named, held(named, Json.object(device, "attributes").orElseGet(JsonObject::new)));
        }

        NodeDevices devices() {
            Map<AllocatedDevice, HeldDevice> all = new HashMap<>();
            pools.values().forEach(found -> all.putAll(found.byName()));
            return new NodeDevices(all);
        }
    }

    private static Pool pool(JsonObject spec) {
        return new Pool(
                Json.text(spec, "driver").orElse(""),
                Json.object(spec, "pool")
                        .flatMap(pool -> Json.text(pool, "name"))
                        .orElse(""));
    }

    private static long generation(JsonObject spec) {
        return Json.object(spec, "pool")
                .flatMap(pool -> Json.number(pool, "generation"))
                .orElse(0L);
    }

    private static HeldDevice held(AllocatedDevice named, JsonObject attributes) {
        List<String> names = Stream.concat(
                        NAMES.stream()
                                .flatMap(name -> attribute(attributes, named.driver(), name).stream())
                                .flatMap(value -> Json.text(value, "string").stream()),
                        Stream.of(named.pool() + "/" + named.device()))
                .distinct()
                .toList();
        Set<Integer> nodes = attribute(attributes, named.driver(), NUMA_NODE).stream()
                .flatMap(value -> Stream.concat(
                        Json.number(value, "int").stream(),
                        Json.elements(value, "ints").flatMap(each -> Json.number(each).stream())))
                .filter(node -> node >= 0)
                .map(Long::intValue)
                .collect(Collectors.toSet());
        return new HeldDevice(named.driver(), List.of(names.getFirst()), names.subList(1, names.size()), nodes);
    }

    /// A name without a domain is the driver's own (DeviceAttribute, QualifiedName).
    private static Optional<JsonObject> attribute(JsonObject attributes, String driver, String name) {
        return Stream.of(STANDARD + name, name, driver + "/" + name)
                .flatMap(key -> Json.object(attributes, key).stream())
                .findFirst();
    }

    /// Whether there is any.
    boolean isEmpty() {
        return byName.isEmpty();
    }

    /// Whether all of `allocated` are known.
    boolean know(Set<AllocatedDevice> allocated) {
        return byName.keySet().containsAll(allocated);
    }

    /// What is known of it, and otherwise what it is called.
    HeldDevice held(AllocatedDevice allocated) {
        return Optional.ofNullable(byName.get(allocated)).orElseGet(() -> held(allocated, new JsonObject()));
    }
}
