package dev.siphon.node.device;

import dev.siphon.csi.DriverException;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.topology.CacheDevices;
import dev.siphon.node.topology.DevicePlace;
import dev.siphon.node.topology.Gpu;
import dev.siphon.node.topology.MachineRoots;
import dev.siphon.node.topology.MigDevice;
import dev.siphon.node.topology.Topology;
import dev.siphon.node.topology.nvml.Nvml;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What this machine has, as it was last seen: devices may be added while it runs. Whoever asks waits 2 s at
/// most; a cache directory whose file system hangs leaves what was seen before.
public final class Machine {
    private static final Logger LOG = LoggerFactory.getLogger(Machine.class);
    private static final Duration LIMIT = Duration.ofSeconds(2);
    private static final long LASTS_NANOS = Duration.ofMinutes(1).toNanos();

    /// How old what is seen may be where it does not know a device.
    private static final long LASTS_UNKNOWN_NANOS = Duration.ofSeconds(5).toNanos();

    private static final String MIG = "MIG-";

    private final MachineRoots roots;
    private final List<Path> directories;
    private final BlockingCalls calls;
    private final Supplier<List<MigDevice>> library;
    private Optional<ScannedMachine> seen = Optional.empty();

    /// @param parts whether NVIDIA's library was asked
    /// @param at by [System#nanoTime]
    private record ScannedMachine(Topology topology, List<CacheDevices> caches, boolean parts, long at) {
        boolean isFresh(long nanos) {
            return System.nanoTime() - at < nanos;
        }
    }

    /// @param roots where it is read
    /// @param directories for replicas
    /// @param calls for what may hang
    public Machine(MachineRoots roots, List<Path> directories, BlockingCalls calls) {
        this(
                roots,
                directories,
                calls,
                () -> roots.equals(MachineRoots.live()) ? Nvml.installed().migDevices(LIMIT) : List.of());
    }

    /// @param library knows the parts of NVIDIA's GPUs
    Machine(MachineRoots roots, List<Path> directories, BlockingCalls calls, Supplier<List<MigDevice>> library) {
        this.roots = roots;
        this.directories = List.copyOf(directories);
        this.calls = calls;
        this.library = library;
    }

    /// Whether there is anything to choose from.
    boolean hasChoice() {
        return directories.size() > 1;
    }

    /// The cache directories and their disks; none if they are not known.
    public List<CacheDevices> caches() {
        return scan(LASTS_NANOS, false).map(ScannedMachine::caches).orElse(List.of());
    }

    /// Where the GPUs among `held` are, each once, however many shares or parts of it are held. Of those that are
    /// called GPUs and that this machine does not know, the NUMA node.
    public List<DevicePlace> places(List<HeldDevice> held) {
        Map<String, HeldDevice> byId = byId(held);
        Optional<ScannedMachine> machine = scan(LASTS_NANOS, false);
        Set<String> unknown = unknown(machine, byId);
        if (!unknown.isEmpty()) {
            machine = scan(LASTS_UNKNOWN_NANOS, unknown.stream().anyMatch(id -> id.startsWith(MIG)));
        }
        Optional<Topology> topology = machine.map(ScannedMachine::topology);
        List<DevicePlace> places = new ArrayList<>();
        byId.forEach((id, device) -> place(topology, device, id)
                // two of which no more is known may be two on one node
                .filter(place -> place instanceof DevicePlace.OnNode || !places.contains(place))
                .ifPresent(places::add));
        return List.copyOf(places);
    }

    /// The kubelet says of a device of several NUMA nodes once for each.
    private static Map<String, HeldDevice> byId(List<HeldDevice> held) {
        Map<String, HeldDevice> byId = new LinkedHashMap<>();
        held.forEach(
                device -> device.ids().forEach(id -> byId.merge(Topology.withoutShare(id), device, HeldDevice::and)));
        return byId;
    }

    private static Set<String> unknown(Optional<ScannedMachine> machine, Map<String, HeldDevice> held) {
        return held.entrySet().stream()
                .filter(each -> each.getValue().isGpu())
                .filter(each -> machine.flatMap(known -> gpu(known.topology(), each.getValue(), each.getKey()))
                        .isEmpty())
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }

    private static Optional<Gpu> gpu(Topology topology, HeldDevice device, String id) {
        return device.names(id).flatMap(name -> topology.gpu(name).stream()).findFirst();
    }

    private static Optional<DevicePlace> place(Optional<Topology> topology, HeldDevice device, String id) {
        return topology.flatMap(known -> gpu(known, device, id))
                .<DevicePlace>map(DevicePlace.OfGpu::new)
                .or(() -> Stream.of(device)
                        .filter(HeldDevice::isGpu)
                        .map(HeldDevice::numaNodes)
                        .filter(nodes -> nodes.size() == 1)
                        .<DevicePlace>map(
                                nodes -> new DevicePlace.OnNode(nodes.iterator().next()))
                        .findFirst());
    }

    /// @param parts whether NVIDIA's library is to be asked for the parts of GPUs
    private synchronized Optional<ScannedMachine> scan(long lasts, boolean parts) {
        if (seen.filter(last -> last.isFresh(lasts) && (last.parts() || !parts)).isEmpty()) {
            List<MigDevice> known = known();
            try {
                seen = Optional.of(calls.check("topology", "topology" + parts, LIMIT, () -> read(parts, known)));
            } catch (DriverException e) {
                LOG.atWarn().addKeyValue("reason", e.getMessage()).log("the machine's topology cannot be read now");
            }
        }
        return seen;
    }

    private ScannedMachine read(boolean parts, List<MigDevice> known) {
        return new ScannedMachine(
                Topology.read(roots).with(parts ? library.get() : known),
                directories.stream().map(path -> CacheDevices.find(roots, path)).toList(),
                parts,
                System.nanoTime());
    }

    /// They do not come and go while a pod holds one.
    private List<MigDevice> known() {
        return seen.map(ScannedMachine::topology).map(Topology::mig).orElse(List.of());
    }
}
