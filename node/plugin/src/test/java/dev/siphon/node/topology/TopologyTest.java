package dev.siphon.node.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The tables are published output of `nvidia-smi topo -m` on such machines. Where it shows the number of NVLinks
/// between two GPUs, only the columns of other devices are compared.
final class TopologyTest {
    @TempDir
    private Path folder = Path.of("");

    private MachineRoots machine(String name) {
        return RecordedMachine.in(folder, name);
    }

    /// Returns the distance of each GPU from each directory.
    private static String table(MachineRoots roots, String... directories) {
        Topology topology = Topology.read(roots);
        List<CacheDevices> caches = Arrays.stream(directories)
                .map(directory -> CacheDevices.find(roots, Path.of(directory)))
                .toList();
        return topology.gpus().stream()
                .map(gpu -> caches.stream()
                        .map(cache -> topology.distance(gpu, cache).label())
                        .collect(Collectors.joining(" ")))
                .collect(Collectors.joining("\n", "", "\n"));
    }

    private static String[] disks(int count) {
        return IntStream.range(0, count)
                .mapToObj(n -> "/mnt/nvme" + n + "/siphon")
                .toArray(String[]::new);
    }

    private static String gpus(Topology topology) {
        return topology.gpus().stream()
                .map(one -> topology.gpus().stream()
                        .map(other -> topology.distance(one, other).label())
                        .collect(Collectors.joining(" ")))
                .collect(Collectors.joining("\n", "", "\n"));
    }

    /// `nvidia-smi topo -m` of a DGX A100: columns mlx5_0, mlx5_2, mlx5_6 and mlx5_8, and NUMA affinity.
    @Test
    void aDgxA100IsSeenAsItsToolSeesIt() {
        MachineRoots roots = machine("dgx-a100");
        assertEquals("""
                PXB SYS SYS SYS
                PXB SYS SYS SYS
                SYS PXB SYS SYS
                SYS PXB SYS SYS
                SYS SYS PXB SYS
                SYS SYS PXB SYS
                SYS SYS SYS PXB
                SYS SYS SYS PXB
                """, table(roots, disks(4)));
        List<Gpu> gpus = Topology.read(roots).gpus();
        assertEquals(
                List.of(3, 3, 1, 1, 7, 7, 5, 5),
                gpus.stream().map(gpu -> gpu.path().numaNode().orElseThrow()).toList());
        assertEquals(
                "0000:07:00.0 0000:0f:00.0 0000:47:00.0 0000:4e:00.0 0000:87:00.0 0000:90:00.0 0000:b7:00.0 0000:bd:00.0",
                gpus.stream().map(gpu -> gpu.address().toString()).collect(Collectors.joining(" ")));
        assertEquals(Optional.of("NVIDIA A100-SXM4-40GB"), gpus.get(2).model());
        assertEquals(OptionalInt.of(2), gpus.get(2).minor());
    }

    /// Published for two sockets with 8 A100 and 4 network cards (driver 525): columns NIC0 to NIC3.
    @Test
    void twoSocketsAndDisksAtSomeOfTheGpus() {
        assertEquals("""
                NODE NODE SYS SYS
                PIX NODE SYS SYS
                NODE NODE SYS SYS
                NODE PIX SYS SYS
                SYS SYS NODE NODE
                SYS SYS NODE NODE
                SYS SYS NODE NODE
                SYS SYS PIX PIX
                """, table(machine("two-sockets"), disks(4)));
    }

    /// Published for 8 P40 at one root complex: columns GPU0 to GPU7 and mlx5_0, whose SOC is called SYS since CUDA
    /// 9. The legend gives the three other disks. The first is at the switch of GPU0 to GPU3, the second at the
    /// switch above both, the third at another root port.
    @Test
    void switchesBelowASwitch() {
        MachineRoots roots = machine("one-root");
        assertEquals("""
                X PIX PIX PIX PXB PXB PXB PXB
                PIX X PIX PIX PXB PXB PXB PXB
                PIX PIX X PIX PXB PXB PXB PXB
                PIX PIX PIX X PXB PXB PXB PXB
                PXB PXB PXB PXB X PIX PIX PIX
                PXB PXB PXB PXB PIX X PIX PIX
                PXB PXB PXB PXB PIX PIX X PIX
                PXB PXB PXB PXB PIX PIX PIX X
                """, gpus(Topology.read(roots)));
        assertEquals("""
                PIX PXB PHB SYS
                PIX PXB PHB SYS
                PIX PXB PHB SYS
                PIX PXB PHB SYS
                PXB PXB PHB SYS
                PXB PXB PHB SYS
                PXB PXB PHB SYS
                PXB PXB PHB SYS
                """, table(roots, disks(4)));
    }

    /// That machine's table: GPU0 PXB, GPU1 NODE, GPU2 SYS in the column of the card at 73:00.0. Its two ports,
    /// mlx5_0 and mlx5_1, are PIX, as in the DGX A100's table.
    @Test
    void aMachineWhosePathsWerePublishedToo() {
        MachineRoots roots = machine("hgx-b300");
        PciPath card = path(roots, "0000:73:00.0");
        assertEquals(
                List.of(Distance.PXB, Distance.NODE, Distance.SYS),
                Topology.read(roots).gpus().stream()
                        .map(gpu -> Distance.between(gpu.path(), card))
                        .toList());
        assertEquals(Distance.PIX, Distance.between(card, path(roots, "0000:73:00.1")));
    }

    private static PciPath path(MachineRoots roots, String address) {
        return MachineFiles.real(roots.sys().resolve("bus/pci/devices").resolve(address))
                .flatMap(PciPath::of)
                .orElseThrow();
    }

    /// `GPU0 X PHB, GPU1 PHB X`, as published for two GPUs without NVLink in a consumer machine.
    @Test
    void aWorkstationHasOneHostBridge() {
        MachineRoots roots = machine("workstation");
        assertEquals("X PHB\nPHB X\n", gpus(Topology.read(roots)));
        assertEquals("PHB PHB ?\nPHB PHB ?\n", table(roots, "/var/lib/siphon", "/data/siphon", "/tmp/siphon"));
        Gpu first = Topology.read(roots).gpus().getFirst();
        assertEquals(Optional.empty(), first.uuid(), "the driver does not know it yet");
        assertEquals(OptionalInt.of(0), first.path().numaNode(), "there is no other node");
    }

    @Test
    void aVmWithoutBridgesHasAllDistancesEqual() {
        MachineRoots roots = machine("vm-flat");
        assertEquals("PHB PHB\nPHB PHB\n", table(roots, "/mnt/nvme0/siphon", "/var/lib/siphon"));
    }

    @Test
    void aVmThatTellsNothingHasAllDistancesEqual() {
        MachineRoots roots = machine("vm-cloud");
        assertEquals("? ?\n? ?\n? ?\n", table(roots, disks(2)));
        Topology topology = Topology.read(roots);
        assertEquals(List.of(), topology.nodes().numbers());
        assertEquals(Optional.empty(), topology.gpus().getFirst().model());
        assertEquals("nvme0 nvme1 nvme9", names(topology.nvme()));
        assertEquals(
                Distance.UNKNOWN,
                topology.distance(topology.gpus().getFirst(), topology.nvme().getLast()));
    }

    private static String names(List<StorageDevice> devices) {
        return devices.stream().map(StorageDevice::name).collect(Collectors.joining(" "));
    }

    @Test
    void aMachineWithoutAnythingIsRead() {
        Topology topology = Topology.read(new MachineRoots(folder.resolve("sys"), folder.resolve("proc")));
        assertEquals(new Topology(List.of(), List.of(), new NumaNodes(List.of()), List.of()), topology);
    }

    @Test
    void thisMachineIsRead() {
        assertTrue(Topology.read(MachineRoots.live()).with(List.of()).mig().isEmpty());
    }

    @Test
    void everyVendorsGpusAreFoundAndNothingElse() {
        MachineRoots roots = machine("disks");
        List<Gpu> gpus = Topology.read(roots).gpus();
        assertEquals(
                List.of(GpuVendor.AMD, GpuVendor.AMD),
                gpus.stream().map(Gpu::vendor).toList());
        assertEquals(Optional.of("0x9246f1c2b3a7d5e0"), gpus.getFirst().uuid());
        assertEquals(Optional.of(GpuVendor.INTEL), GpuVendor.of(0x8086, 0x038000));
        assertEquals(Optional.empty(), GpuVendor.of(0x8086, 0x030000), "a processor's own graphics");
        assertEquals(Optional.empty(), GpuVendor.of(0x10de, 0x040300), "a GPU's sound");
        assertEquals(Optional.empty(), GpuVendor.of(0x1a03, 0x030000), "a management controller's display");
    }

    /// The first of two A100 is partitioned; only NVML knows the names of its partitions.
    @Test
    void aPartIsWhereItsGpuIs() {
        MachineRoots roots = machine("mig");
        String part = "MIG-c7384736-a75d-5afc-978f-d2f1294409fd";
        Topology topology = Topology.read(roots)
                .with(List.of(
                        new MigDevice(part, PciAddress.parse("0000:9a:00.0").orElseThrow())));
        assertEquals("PIX SYS\nSYS PIX\n", table(roots, disks(2)));
        CacheDevices second = CacheDevices.find(roots, Path.of("/mnt/nvme1/siphon"));
        for (String id : List.of(
                part,
                part + "::2",
                "GPU-d1a5bd8a-66d5-4b1d-8b7f-4f0d8a3a2c11",
                "MIG-GPU-d1a5bd8a-66d5-4b1d-8b7f-4f0d8a3a2c11/2/0",
                "0000:9a:00.0",
                "00000000:9A:00.0")) {
            Gpu gpu = topology.gpu(id).orElseThrow(() -> new AssertionError(id));
            assertEquals(Distance.PIX, topology.distance(gpu, second), id);
        }
        for (String id : List.of("", "0", "MIG-unknown", "GPU-unknown", "0000:17:00.0", "MIG-GPU-x")) {
            assertEquals(Optional.empty(), topology.gpu(id), id);
        }
    }
}
