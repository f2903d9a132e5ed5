package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.gpu.FakeGpus;
import dev.siphon.e2e.lab.LabDaemon;
import io.fabric8.kubernetes.api.model.Quantity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.stream.IntStream;

/// The simulated machine of the lab's node: two NUMA nodes, each with four GPUs and an NVMe disk. It is a tree of
/// files laid out like sysfs and the NVIDIA driver's proc files; a device plugin gives made-up GPUs to pods.
final class GpuMachine {
    private static final Path STATE = Path.of("/var/lib/siphon");
    private static final Path ROOT = STATE.resolve("machine");
    private static final String DAEMON = "fake-gpus";

    /// All GPUs of the machine.
    static final List<Gpu> GPUS = IntStream.range(0, 8)
            .mapToObj(number -> new Gpu(number, number / 4))
            .toList();

    private GpuMachine() {}

    /// A GPU with its number and NUMA node.
    record Gpu(int number, int numaNode) {
        String id() {
            return "GPU-fake-" + number;
        }

        private String argument() {
            return id() + "=" + numaNode;
        }
    }

    /// Returns the environment of the plugin on this machine.
    ///
    /// @param size of the cache directory on each disk
    static List<String> environment(String size) {
        return List.of(
                "SIPHON_CACHE_DIRS=" + cache(0) + "=" + size + "," + cache(1) + "=" + size,
                "SIPHON_SYS=" + ROOT.resolve("sys"),
                "SIPHON_PROC=" + ROOT.resolve("proc"));
    }

    /// Returns the cache directory on a disk.
    static Path cache(int disk) {
        return STATE.resolve("nvme" + disk).resolve("cache");
    }

    /// Writes the tree again.
    static void make() {
        try {
            delete(ROOT);
            Files.createDirectories(ROOT.resolve("proc/self"));
            for (Gpu gpu : GPUS) {
                String address = device(gpu.number() + 1, "0x10de", "0x030200", gpu.numaNode());
                write("proc/driver/nvidia/gpus/" + address + "/information", "GPU UUID: \t " + gpu.id());
            }
            for (int node = 0; node < 2; node++) {
                disk(node);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Adds a PCI device behind its own root port.
    ///
    /// @return its address
    private static String device(int bus, String vendor, String kind, int numaNode) throws IOException {
        String address = "0000:%x1:00.0".formatted(bus);
        String folder = "devices/pci0000:%1$x0/0000:%1$x0:01.0/%2$s".formatted(bus, address);
        write("sys/" + folder + "/vendor", vendor);
        write("sys/" + folder + "/class", kind);
        write("sys/" + folder + "/numa_node", Integer.toString(numaNode));
        link("sys/bus/pci/devices/" + address, "../../../" + folder);
        return address;
    }

    private static void disk(int number) throws IOException {
        int bus = number + 10;
        String name = "nvme" + number;
        String address = device(bus, "0x144d", "0x010802", number);
        String folder = "devices/pci0000:%1$x0/0000:%1$x0:01.0/%2$s/nvme/%3$s".formatted(bus, address, name);
        write("sys/" + folder + "/" + name + "n1/dev", "259:" + number);
        Files.createDirectories(ROOT.resolve("sys/devices/system/node/node" + number));
        link("sys/class/nvme/" + name, "../../" + folder);
        link("sys/class/block/" + name + "n1", "../../" + folder + "/" + name + "n1");
        link("sys/dev/block/259:" + number, "../../" + folder + "/" + name + "n1");
        Files.createDirectories(STATE.resolve(name));
        Files.writeString(
                ROOT.resolve("proc/self/mountinfo"),
                "3%1$d 22 259:%1$d / %2$s rw - xfs /dev/nvme%1$dn1 rw\n".formatted(number, STATE.resolve(name)),
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    private static void write(String file, String text) throws IOException {
        Path path = ROOT.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text + "\n");
    }

    private static void link(String file, String target) throws IOException {
        Path path = ROOT.resolve(file);
        Files.createDirectories(path.getParent());
        Files.createSymbolicLink(path, Path.of(target));
    }

    private static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path folder, IOException failure) throws IOException {
                Files.delete(folder);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    /// Sets the GPUs that exist from now on. A pod that holds another one keeps it.
    static void plug(Cluster cluster, List<Gpu> gpus) {
        LabDaemon running = new LabDaemon(DAEMON);
        if (Files.exists(cluster.lab().run().resolve("daemon").resolve(DAEMON)) && running.runs()) {
            running.terminate();
        }
        var _ = LabDaemon.ofClass(
                        DAEMON, FakeGpus.class, gpus.stream().map(Gpu::argument).toList())
                .start();
        var _ = cluster.await(
                gpus.size() + " GPUs of the node",
                cluster.client().nodes().withName(cluster.node()),
                node -> new Quantity(Integer.toString(gpus.size()))
                        .equals(node.getStatus().getAllocatable().get("nvidia.com/gpu")));
    }
}
