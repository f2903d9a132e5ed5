package dev.siphon.node.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.csi.VolumeId;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.mount.CachePreference;
import dev.siphon.node.pod.Pod;
import dev.siphon.node.pod.PodHealth;
import dev.siphon.node.pod.PublishedPods;
import dev.siphon.node.topology.CacheRanking;
import dev.siphon.node.topology.MachineRoots;
import dev.siphon.node.topology.MigDevice;
import dev.siphon.node.topology.RecordedMachine;
import dev.siphon.node.topology.Topology;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Choices worked out by hand from the tables in `TopologyTest`.
@Timeout(30)
final class NearestCachesTest {
    private static final Pod POD = new Pod("u1", "train", "1-2-3");

    @TempDir
    private Path folder = Path.of("");

    private final BlockingCalls calls = new BlockingCalls();
    private final List<String> asked = new ArrayList<>();
    private List<HeldDevice> held = List.of();

    @AfterEach
    void close() {
        calls.close();
    }

    private NearestCaches caches(String machine, int count) {
        List<Path> directories = Stream.iterate(0, n -> n + 1)
                .limit(count)
                .map(n -> Path.of("/mnt/nvme" + n + "/siphon"))
                .toList();
        PodDevices kubelet = pod -> {
            asked.add(pod.namespace() + "/" + pod.name());
            return new PodDevices.Answer.Held(held);
        };
        return new NearestCaches(
                kubelet, new Machine(RecordedMachine.in(folder.resolve(machine), machine), directories, calls));
    }

    private static String shown(Optional<CacheRanking> ranking) {
        return ranking.map(known -> known.nearest().stream()
                        .map(path -> path.getName(1).toString())
                        .collect(Collectors.joining(" ")))
                .orElse("nothing");
    }

    @ParameterizedTest(name = "{0}: {1} {2}")
    @CsvSource({
        // one to eight UUIDs, in the format of NVIDIA's plugin
        "dgx-a100,    nvidia.com/gpu,          GPU-a1000002,                         1, nvme1",
        "dgx-a100,    nvidia.com/gpu,          GPU-a1000004 GPU-a1000005,            3, nvme2",
        "dgx-a100,    nvidia.com/gpu,          GPU-a1000006 GPU-a1000007 GPU-a1000000, 2, nvme3",
        // shares of one GPU count as one GPU
        "dgx-a100,    nvidia.com/gpu.shared,   GPU-a1000000::0 GPU-a1000000::3 GPU-a1000002::1, 0, nvme0 nvme1",
        // GPU partitions: an old name contains its GPU; for a new one the plugin reports the NUMA node
        "mig,         nvidia.com/mig-1g.10gb,  MIG-GPU-d1a5bd8a-66d5-4b1d-8b7f-4f0d8a3a2c11/2/0, 1, nvme1",
        "mig,         nvidia.com/mig-1g.10gb,  MIG-11111111-2222-3333-4444-555555555555, 1, nvme1",
        // PCI addresses, as AMD's plugin and VM plugins use them, whatever the resource's name
        "two-sockets, amd.com/gpu,             0000:43:00.0,                         0, nvme1",
        "two-sockets, example.com/accelerator, 0000:83:00.0,                         1, nvme2 nvme3",
        // only the NUMA node is known
        "two-sockets, gpu.intel.com/i915,      card0-1,                              1, nvme2 nvme3",
        "two-sockets, nvidia.com/gpu,          GPU-fake-3,                           0, nvme0 nvme1",
        // other devices than GPUs do not count
        "two-sockets, rdma/hca,                mlx5_0,                               0, nothing",
        // a machine that reports nothing
        "vm-cloud,    nvidia.com/gpu,          0000:00:00.0,                         0, ''",
    })
    void whatAPodHoldsDecides(String machine, String resource, String ids, int node, String nearest) {
        List<String> named =
                Arrays.stream(ids.split(" ")).map(NearestCachesTest::full).toList();
        held = List.of(new HeldDevice(resource, named, Set.of(node)));
        assertEquals(
                nearest, shown(caches(machine, machine.equals("mig") ? 2 : 4).of(POD)));
        assertEquals(List.of("u1/train"), asked);
    }

    /// Devices as named by ResourceSlices: the PCI address wins over the UUID, and the UUID over the NUMA node.
    @ParameterizedTest(name = "{0}: {1} {2} {3}")
    @CsvSource({
        "two-sockets, gpu.amd.com,      0000:43:00.0,     pool/gpu-1,   '', nvme1",
        "two-sockets, gpu.nvidia.com,   00000000:43:00.0, GPU-x,        1,  nvme1",
        "two-sockets, gpu.intel.com,    0000:99:00.0,     pool/gpu-1,   1,  nvme2 nvme3",
        "two-sockets, gpu.example.com,  pool/gpu-1,       '',           1,  nvme2 nvme3",
        "two-sockets, gpu.example.com,  pool/gpu-1,       '',           '', nothing",
        "dgx-a100,    gpu.nvidia.com,   MIG-1,            GPU-a1000002, '', nvme1",
        "dgx-a100,    gpu.nvidia.com,   GPU-a1000004,     pool/gpu-4,   3,  nvme2",
        // other kinds of devices, whatever place they report
        "two-sockets, nic.example.com,  0000:99:00.0,     pool/nic-0,   1,  nothing",
        "two-sockets, dra.net,          pool/nic-0,       '',           1,  nothing",
        // the kind of device decides, not the driver's name
        "two-sockets, vfio.example.com, 0000:83:00.0,     pool/d-0,     '', nvme2 nvme3",
    })
    void whatAPodWasAllocatedDecides(
            String machine, String driver, String name, String other, String node, String nearest) {
        held = List.of(new HeldDevice(
                driver,
                List.of(full(name)),
                other.isEmpty() ? List.of() : List.of(full(other)),
                node.isEmpty() ? Set.of() : Set.of(Integer.valueOf(node))));
        assertEquals(nearest, shown(caches(machine, 4).of(POD)));
    }

    /// Expands a short id: `dgx-a100.machine` has made-up UUIDs with equal endings.
    private static String full(String id) {
        int share = id.indexOf("::");
        String gpu = share < 0 ? id : id.substring(0, share);
        return gpu.startsWith("GPU-a100000") ? gpu + "-0000-4000-8000-000000000000" + id.substring(gpu.length()) : id;
    }

    /// Two GPUs at one NUMA node outweigh one at another, even if only the node is known.
    @Test
    void everyGpuOfWhichNoMoreIsKnownCounts() {
        held = List.of(
                new HeldDevice("nvidia.com/gpu", List.of("GPU-x", "GPU-y"), Set.of(1)),
                new HeldDevice("nvidia.com/gpu", List.of("GPU-z"), Set.of(0)));
        assertEquals("nvme2 nvme3", shown(caches("two-sockets", 4).of(POD)));
    }

    /// The kubelet reports such a device once per NUMA node.
    @Test
    void aDeviceOfTwoNodesIsOneAndPrefersNone() {
        held = List.of(
                new HeldDevice("nvidia.com/gpu", List.of("GPU-x"), Set.of(0)),
                new HeldDevice("nvidia.com/gpu", List.of("GPU-x"), Set.of(1)),
                new HeldDevice("nvidia.com/gpu", List.of("GPU-z"), Set.of(1)));
        assertEquals("nvme2 nvme3", shown(caches("two-sockets", 4).of(POD)));
    }

    @Test
    void theLibraryIsAskedForPartsThatNobodyKnowsAndForNothingElse() {
        List<Path> directories = List.of(Path.of("/mnt/nvme0"), Path.of("/mnt/nvme1"));
        AtomicInteger asked = new AtomicInteger();
        MachineRoots roots = RecordedMachine.in(folder, "mig");
        Machine machine = new Machine(roots, directories, calls, () -> {
            asked.incrementAndGet();
            return List.of(new MigDevice(
                    "MIG-new", Topology.read(roots).gpus().getLast().address()));
        });
        NearestCaches caches = new NearestCaches(_ -> new PodDevices.Answer.Held(held), machine);
        held = List.of(new HeldDevice("nvidia.com/gpu", List.of("0000:19:00.0"), Set.of()));
        assertEquals("nvme0", of(caches));
        assertEquals(0, asked.get());
        held = List.of(new HeldDevice("nvidia.com/mig-1g.10gb", List.of("MIG-new"), Set.of()));
        assertEquals("nvme1", of(caches));
        assertEquals("nvme1", of(caches));
        assertEquals(1, asked.get());
        held = List.of(new HeldDevice("nvidia.com/mig-1g.10gb", List.of("MIG-other"), Set.of()));
        assertEquals("nothing", of(caches));
        assertEquals(1, asked.get(), "once in some seconds");
    }

    private static String of(NearestCaches caches) {
        return shown(caches.of(POD));
    }

    @Test
    void aPodWithoutDevicesReadsFromAnywhere() {
        assertEquals("nothing", shown(caches("two-sockets", 4).of(POD)));
    }

    @Test
    void whereThereIsNothingToChooseNobodyIsAsked() {
        held = List.of(new HeldDevice("nvidia.com/gpu", List.of("0000:13:00.0"), Set.of(0)));
        assertEquals("nothing", shown(caches("two-sockets", 1).of(POD)));
        assertEquals(List.of(), asked);
    }

    @Test
    void whatIsNotKnownIsNoFailure() {
        PodDevices hung = _ -> new PodDevices.Answer.Unknown("it hangs");
        Machine machine = new Machine(
                RecordedMachine.in(folder, "two-sockets"),
                List.of(Path.of("/mnt/nvme0"), Path.of("/mnt/nvme1")),
                calls);
        assertEquals(Optional.empty(), new NearestCaches(hung, machine).of(POD));
    }

    @Test
    void thePodsPeopleAreToldWhatCameOfIt() throws InterruptedException {
        LinkedBlockingQueue<String> events = new LinkedBlockingQueue<>();
        held = List.of(new HeldDevice("nvidia.com/gpu", List.of("0000:43:00.0"), Set.of(0)));
        PrometheusRegistry metrics = new PrometheusRegistry();
        VolumeId.DatasetVolume dataset =
                new VolumeId.DatasetVolume("lab", "cephfs", "0123456789".repeat(4), Optional.empty(), "/datasets/x");
        try (PodHealth pods = new PodHealth(
                new PublishedPods(folder.resolve("pods")),
                (pod, event) -> events.add(
                        pod.name() + " " + event.type().text() + " " + event.reason() + " " + event.message()),
                metrics)) {
            DatasetPlacement placement = new DatasetPlacement(caches("two-sockets", 4), pods, metrics);
            Path near = Path.of("/mnt/nvme1/siphon");
            Path far = Path.of("/mnt/nvme3/siphon");
            CachePreference caches = placement.prefer(dataset, POD);
            assertEquals(List.of(near), caches.nearest());
            placement.report(dataset, POD, caches, List.of());
            placement.report(dataset, POD, new CachePreference.AnyDirectory(), List.of(near));
            placement.report(dataset, POD, caches, List.of(near));
            assertEquals(
                    "train Normal DatasetPlaced dataset " + dataset.digest().substring(0, 12)
                            + " has its replica in /mnt/nvme1/siphon, PIX, nearest to its GPUs (0000:43:00.0)",
                    events.poll(10, TimeUnit.SECONDS),
                    "the first event: none without a replica, or without a preference");
            placement.report(dataset, POD, caches, List.of(far));
            assertEquals(
                    "train Normal DatasetPlaced dataset " + dataset.digest().substring(0, 12)
                            + " has its replica in /mnt/nvme3/siphon, SYS from its GPUs (0000:43:00.0);"
                            + " /mnt/nvme1/siphon is nearer, and has no room for one",
                    events.poll(10, TimeUnit.SECONDS));
            held = List.of();
            assertEquals(new CachePreference.AnyDirectory(), placement.prefer(dataset, POD));
        }
    }
}
