package dev.siphon.node.topology;

import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/// The GPUs, NVMe controllers and NUMA nodes of a machine, at one moment.
///
/// @param gpus by PCI address, the order of `nvidia-smi`
/// @param nvme the NVMe controllers
/// @param nodes the NUMA nodes
/// @param mig the MIG devices; only NVML knows them
public record Topology(List<Gpu> gpus, List<StorageDevice> nvme, NumaNodes nodes, List<MigDevice> mig) {
    /// The prefix of a MIG device's name with drivers before 470; the name also holds the UUID of the GPU.
    private static final String OLD_MIG = "MIG-GPU-";

    /// Separates a device from the number of a share of it (time slicing of NVIDIA's device plugin).
    private static final String SHARE = "::";

    public Topology {
        gpus = List.copyOf(gpus);
        nvme = List.copyOf(nvme);
        mig = List.copyOf(mig);
    }

    /// Reads the machine, which takes tens of small files per PCI device. Never fails: missing information is left
    /// out.
    public static Topology read(MachineRoots roots) {
        NumaNodes nodes = NumaNodes.read(roots);
        NvidiaDriver nvidia = NvidiaDriver.read(roots);
        List<Gpu> gpus = MachineFiles.entries(roots.sys().resolve("bus/pci/devices")).stream()
                .flatMap(device -> MachineFiles.real(device).stream())
                .flatMap(device -> gpu(device, nvidia, nodes.only()).stream())
                .sorted(Comparator.comparing(Gpu::address))
                .toList();
        List<StorageDevice> nvme = MachineFiles.entries(roots.sys().resolve("class/nvme")).stream()
                .map(entry -> new StorageDevice(
                        MachineFiles.name(entry),
                        MachineFiles.real(entry).flatMap(PciPath::of).map(path -> path.orNumaNode(nodes.only()))))
                .toList();
        return new Topology(gpus, nvme, nodes, List.of());
    }

    private static Optional<Gpu> gpu(Path device, NvidiaDriver nvidia, OptionalInt onlyNode) {
        OptionalInt vendor = MachineFiles.number(device.resolve("vendor"));
        OptionalInt code = MachineFiles.number(device.resolve("class"));
        Optional<PciPath> path = PciPath.of(device).map(found -> found.orNumaNode(onlyNode));
        if (vendor.isEmpty() || code.isEmpty() || path.isEmpty()) {
            return Optional.empty();
        }
        return GpuVendor.of(vendor.getAsInt(), code.getAsInt()).map(maker -> switch (maker) {
            case NVIDIA -> nvidia.gpu(path.get());
            case AMD, INTEL ->
                new Gpu(
                        path.get(),
                        maker,
                        MachineFiles.text(device.resolve("product_name")),
                        MachineFiles.text(device.resolve("unique_id")),
                        OptionalInt.empty());
        });
    }

    /// Returns the same machine with the MIG devices that NVML reports.
    public Topology with(List<MigDevice> parts) {
        return new Topology(gpus, nvme, nodes, parts);
    }

    /// Returns the device that a device plugin's `id` is a share of; `id` itself if it is no share.
    public static String withoutShare(String id) {
        return id.contains(SHARE) ? id.substring(0, id.indexOf(SHARE)) : id;
    }

    /// Returns the GPU that a device plugin's `id` refers to; empty if there is none. `id` is the UUID of a GPU or
    /// MIG device, or a PCI address, possibly with the number of a share.
    public Optional<Gpu> gpu(String id) {
        String device = withoutShare(id);
        return PciAddress.parse(device)
                .or(() -> part(device))
                .flatMap(address -> gpus.stream()
                        .filter(each -> each.address().equals(address))
                        .findFirst())
                .or(() -> gpus.stream()
                        .filter(each ->
                                each.uuid().filter(gpuOf(device)::equals).isPresent())
                        .findFirst());
    }

    private Optional<PciAddress> part(String uuid) {
        return mig.stream()
                .filter(each -> each.uuid().equals(uuid))
                .map(MigDevice::parent)
                .findFirst();
    }

    /// Returns the GPU in an old name of a MIG device: `MIG-GPU-<uuid>/<instance>/<compute instance>`.
    private static String gpuOf(String device) {
        return device.startsWith(OLD_MIG) && device.contains("/")
                ? device.substring("MIG-".length(), device.indexOf('/'))
                : device;
    }

    /// Returns the distance between two GPUs, which may be the same.
    public Distance distance(Gpu one, Gpu other) {
        return Distance.between(one.path(), other.path());
    }

    /// Returns the distance of a GPU from a disk; unknown if the disk has no PCI device.
    public Distance distance(Gpu gpu, StorageDevice disk) {
        return disk.path().map(path -> Distance.between(gpu.path(), path)).orElse(Distance.UNKNOWN);
    }

    /// Returns the distance of a GPU from a cache directory: that of its farthest disk.
    public Distance distance(Gpu gpu, CacheDevices cache) {
        return cache.from(new DevicePlace.OfGpu(gpu));
    }
}
