package dev.siphon.node.topology;

import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/// What a machine has, at one moment.
///
/// @param gpus by PCI address, the order of `nvidia-smi`
/// @param nvme the NVMe controllers
/// @param nodes its NUMA nodes
/// @param mig the parts of GPUs that are devices of their own; only NVML knows them
public record Topology(List<Gpu> gpus, List<StorageDevice> nvme, NumaNodes nodes, List<MigDevice> mig) {
    /// Before the identifier of the GPU in that of a part of it, with drivers before 470.
    private static final String OLD_MIG = "MIG-GPU-";

    /// Between a device and the number of a share of it (time slicing of NVIDIA's device plugin).
    private static final String SHARE = "::";

    public Topology {
        gpus = List.copyOf(gpus);
        nvme = List.copyOf(nvme);
        mig = List.copyOf(mig);
    }

    /// Reads the machine. What it does not tell is left out; nothing is an error. Tens of small files per PCI
    /// device.
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

    /// The same machine, with what NVML says of its GPUs' parts.
    public Topology with(List<MigDevice> parts) {
        return new Topology(gpus, nvme, nodes, parts);
    }

    /// What a device plugin's `id` is a share of; itself if it is none.
    public static String withoutShare(String id) {
        return id.contains(SHARE) ? id.substring(0, id.indexOf(SHARE)) : id;
    }

    /// The GPU that a device plugin means by `id`: a UUID of a GPU or of a part of one, or a PCI address, with or
    /// without the number of a share. Empty if it is none of these here.
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

    /// The GPU in an old identifier of a part: `MIG-GPU-<uuid>/<instance>/<compute instance>`.
    private static String gpuOf(String device) {
        return device.startsWith(OLD_MIG) && device.contains("/")
                ? device.substring("MIG-".length(), device.indexOf('/'))
                : device;
    }

    /// How far a GPU is from another, or from itself.
    public Distance distance(Gpu one, Gpu other) {
        return Distance.between(one.path(), other.path());
    }

    /// How far a GPU is from a disk; unknown where the disk has no PCI device.
    public Distance distance(Gpu gpu, StorageDevice disk) {
        return disk.path().map(path -> Distance.between(gpu.path(), path)).orElse(Distance.UNKNOWN);
    }

    /// How far a GPU is from a cache directory: as far as the farthest of its disks.
    public Distance distance(Gpu gpu, CacheDevices cache) {
        return cache.from(new DevicePlace.OfGpu(gpu));
    }
}
