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

/// Caches a scan of this machine's devices and disks, and rescans it because devices may be added at runtime.
/// Callers wait at most 2 s. If a cache directory's file system hangs, the last scan stays in use.
public final class Machine {
    private static final Logger LOG = LoggerFactory.getLogger(Machine.class);
    private static final Duration LIMIT = Duration.ofSeconds(2);

    /// Shorter, so that a scan goes on without MIG devices while the library hangs.
    private static final Duration LIBRARY_LIMIT = Duration.ofSeconds(1);

    private static final long LASTS_NANOS = Duration.ofMinutes(1).toNanos();

    /// The maximum age of a scan that lacks a requested device.
    private static final long LASTS_UNKNOWN_NANOS = Duration.ofSeconds(5).toNanos();

    private static final String MIG = "MIG-";

    private final MachineRoots roots;
    private final List<Path> directories;
    private final BlockingCalls calls;
    private final Supplier<List<MigDevice>> library;
    private Optional<ScannedMachine> seen = Optional.empty();

    /// @param parts whether NVIDIA's library was queried for MIG devices
    /// @param at the time, by [System#nanoTime]
    private record ScannedMachine(Topology topology, List<CacheDevices> caches, boolean parts, long at) {
        boolean isFresh(long nanos) {
            return System.nanoTime() - at < nanos;
        }
    }

    /// @param roots the file systems to read
    /// @param directories the cache directories
    /// @param calls runs the calls that may hang
    public Machine(MachineRoots roots, List<Path> directories, BlockingCalls calls) {
        this(roots, directories, calls, roots.equals(MachineRoots.live()) ? nvidia() : List::of);
    }

    /// Returns NVIDIA's library, the same for all scans: it counts its calls that hang.
    private static Supplier<List<MigDevice>> nvidia() {
        Nvml library = Nvml.installed();
        return () -> library.migDevices(LIBRARY_LIMIT);
    }

    /// @param library returns the MIG devices
    Machine(MachineRoots roots, List<Path> directories, BlockingCalls calls, Supplier<List<MigDevice>> library) {
        this.roots = roots;
        this.directories = List.copyOf(directories);
        this.calls = calls;
        this.library = library;
    }

    /// Returns whether there are several cache directories to choose from.
    boolean hasChoice() {
        return directories.size() > 1;
    }

    /// Returns the cache directories and their disks; empty if no scan has succeeded.
    public List<CacheDevices> caches() {
        return scan(LASTS_NANOS, false).map(ScannedMachine::caches).orElse(List.of());
    }

    /// Returns the location of each GPU among `held` once, however many shares or parts of it are held. A GPU
    /// unknown to this machine is located by its NUMA node, if it has exactly one.
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
                // two places known only by NUMA node may be different devices
                .filter(place -> place instanceof DevicePlace.OnNode || !places.contains(place))
                .ifPresent(places::add));
        return List.copyOf(places);
    }

    /// Merges devices by id. The kubelet reports a device on several NUMA nodes once per node.
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

    /// @param parts whether to query NVIDIA's library for MIG devices
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

    /// Returns the MIG devices of the last scan. They cannot change while a pod holds one.
    private List<MigDevice> known() {
        return seen.map(ScannedMachine::topology).map(Topology::mig).orElse(List.of());
    }
}
