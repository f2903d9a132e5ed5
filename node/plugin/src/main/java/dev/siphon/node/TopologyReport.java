package dev.siphon.node;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.siphon.csi.report.Table;
import dev.siphon.csi.report.Table.Cell;
import dev.siphon.node.topology.CacheDevices;
import dev.siphon.node.topology.Distance;
import dev.siphon.node.topology.Gpu;
import dev.siphon.node.topology.MigDevice;
import dev.siphon.node.topology.PciPath;
import dev.siphon.node.topology.StorageDevice;
import dev.siphon.node.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// The output of `siphon topology`.
record TopologyReport(Topology topology, List<CacheDevices> caches) {
    private static final String NONE = "-";
    private static final String LEGEND = "PIX: at most one PCIe bridge, PXB: several, PHB: a host bridge, NODE: host"
            + " bridges of one NUMA node, SYS: NUMA nodes, ?: not known";

    /// Returns a table like that of `nvidia-smi topo -m`: a row for each GPU, a column for each directory or disk.
    List<String> text() {
        List<String> lines = new ArrayList<>();
        if (topology.gpus().isEmpty()) {
            lines.add("no GPU found");
        } else {
            lines.addAll(caches.isEmpty() ? disks() : directories());
            lines.add("");
            lines.add(LEGEND);
        }
        if (caches.isEmpty()) {
            lines.add("no cache directory named: see --cache-dir");
        } else {
            lines.add("");
            lines.addAll(legend().text());
        }
        return lines;
    }

    private List<String> directories() {
        List<String> columns =
                IntStream.range(0, caches.size()).mapToObj(i -> "c" + i).toList();
        return matrix(columns, gpu -> caches.stream().map(cache -> topology.distance(gpu, cache)));
    }

    private List<String> disks() {
        List<String> columns = topology.nvme().stream().map(StorageDevice::name).toList();
        return matrix(columns, gpu -> topology.nvme().stream().map(disk -> topology.distance(gpu, disk)));
    }

    private List<String> matrix(List<String> columns, Function<Gpu, Stream<Distance>> distances) {
        Table table = new Table(Stream.concat(Stream.of("gpu", "pci", "numa", "model"), columns.stream())
                .toArray(String[]::new));
        for (int i = 0; i < topology.gpus().size(); i++) {
            Gpu gpu = topology.gpus().get(i);
            Stream<String> own =
                    Stream.of(String.valueOf(i), gpu.address().toString(), node(Optional.of(gpu.path())), model(gpu));
            table.row(Stream.concat(own, distances.apply(gpu).map(Distance::label))
                    .map(Cell.Text::new)
                    .toArray(Cell[]::new));
        }
        return table.text();
    }

    private Table legend() {
        Table table = new Table("cache", "directory", "disks", "numa");
        for (int i = 0; i < caches.size(); i++) {
            CacheDevices cache = caches.get(i);
            table.row(
                    new Cell.Text("c" + i),
                    new Cell.Text(cache.directory().toString()),
                    new Cell.Text(each(
                            cache,
                            disk -> disk.name()
                                    + disk.path()
                                            .map(path -> " " + path.address())
                                            .orElse(""))),
                    new Cell.Text(each(cache, disk -> node(disk.path()))));
        }
        return table;
    }

    private static String each(CacheDevices cache, Function<StorageDevice, String> shown) {
        return cache.devices().isEmpty()
                ? NONE
                : cache.devices().stream().map(shown).distinct().collect(Collectors.joining(", "));
    }

    private static String model(Gpu gpu) {
        return gpu.model().orElse(gpu.vendor().name().toLowerCase(Locale.ROOT));
    }

    private static String node(Optional<PciPath> path) {
        return path.map(PciPath::numaNode)
                .filter(node -> node.isPresent())
                .map(node -> String.valueOf(node.getAsInt()))
                .orElse(NONE);
    }

    /// Returns everything as one object. Omits unknown values; an unknown distance is `?`.
    JsonObject json() {
        JsonObject all = new JsonObject();
        JsonArray nodes = new JsonArray();
        topology.nodes().numbers().forEach(nodes::add);
        all.add("numa_nodes", nodes);
        all.add("gpus", array(topology.gpus(), this::gpu));
        all.add("nvme", array(topology.nvme(), disk -> withDistances(disk(disk), gpu -> topology.distance(gpu, disk))));
        all.add("cache_directories", array(caches, this::cache));
        return all;
    }

    private JsonObject gpu(Gpu gpu) {
        JsonObject object = located(new JsonObject(), Optional.of(gpu.path()));
        object.addProperty("vendor", gpu.vendor().name().toLowerCase(Locale.ROOT));
        gpu.model().ifPresent(model -> object.addProperty("model", model));
        gpu.uuid().ifPresent(uuid -> object.addProperty("uuid", uuid));
        gpu.minor().ifPresent(minor -> object.addProperty("minor", minor));
        JsonArray parts = new JsonArray();
        topology.mig().stream()
                .filter(part -> part.parent().equals(gpu.address()))
                .map(MigDevice::uuid)
                .forEach(parts::add);
        object.add("mig", parts);
        return withDistances(object, other -> topology.distance(gpu, other));
    }

    private JsonObject cache(CacheDevices cache) {
        JsonObject object = new JsonObject();
        object.addProperty("directory", cache.directory().toString());
        object.add("disks", array(cache.devices(), TopologyReport::disk));
        return withDistances(object, gpu -> topology.distance(gpu, cache));
    }

    private static JsonObject disk(StorageDevice disk) {
        JsonObject object = new JsonObject();
        object.addProperty("name", disk.name());
        return located(object, disk.path());
    }

    private static JsonObject located(JsonObject object, Optional<PciPath> path) {
        path.ifPresent(found -> {
            object.addProperty("pci", found.address().toString());
            found.numaNode().ifPresent(node -> object.addProperty("numa_node", node));
            JsonArray bridges = new JsonArray();
            found.hostBridge().ifPresent(bridges::add);
            found.bridges().forEach(bridge -> bridges.add(bridge.toString()));
            object.add("bridges", bridges);
        });
        return object;
    }

    /// Adds the distances, by the PCI address of each GPU.
    private JsonObject withDistances(JsonObject object, Function<Gpu, Distance> distance) {
        JsonObject distances = new JsonObject();
        topology.gpus()
                .forEach(gpu -> distances.addProperty(
                        gpu.address().toString(), distance.apply(gpu).label()));
        object.add("distances", distances);
        return object;
    }

    private static <T> JsonArray array(List<T> from, Function<T, JsonObject> object) {
        JsonArray array = new JsonArray();
        from.forEach(each -> array.add(object.apply(each)));
        return array;
    }
}
