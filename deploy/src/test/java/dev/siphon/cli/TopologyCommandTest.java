package dev.siphon.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TopologyCommandTest {
    private static final String GPU = "pci0000:20/0000:20:01.0/0000:21:00.0/0000:22:00.0/0000:23:00.0";
    private static final String NVME = "pci0000:20/0000:20:01.0/0000:21:00.0/0000:22:01.0/0000:24:00.0";

    @TempDir
    private Path machine = Path.of("");

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    /// Creates a GPU and an NVMe disk at one switch, with the disk mounted at `/mnt/nvme0`.
    private void gpuBesideDisk() throws IOException {
        device(GPU, "0x10de", "0x030200");
        device(NVME, "0x144d", "0x010802");
        link("sys/class/nvme/nvme0", "../../devices/" + NVME + "/nvme/nvme0");
        write("sys/devices/" + NVME + "/nvme/nvme0/nvme0n1/dev", "259:0");
        link("sys/dev/block/259:0", "../../devices/" + NVME + "/nvme/nvme0/nvme0n1");
        write("sys/devices/system/node/node0/cpulist", "0");
        write("sys/devices/system/node/node1/cpulist", "1");
        write("proc/self/mountinfo", "30 22 259:0 / /mnt/nvme0 rw - xfs /dev/nvme0n1 rw\n");
        write(
                "proc/driver/nvidia/gpus/0000:23:00.0/information",
                "Model: \t\t NVIDIA L40S\nGPU UUID: \t GPU-1\nDevice Minor: \t 0\n");
    }

    private void device(String chain, String vendor, String code) throws IOException {
        write("sys/devices/" + chain + "/vendor", vendor);
        write("sys/devices/" + chain + "/class", code);
        write("sys/devices/" + chain + "/numa_node", "1");
        link("sys/bus/pci/devices/" + chain.substring(chain.lastIndexOf('/') + 1), "../../../devices/" + chain);
    }

    private void write(String path, String text) throws IOException {
        Files.writeString(inFolder(path), text);
    }

    private void link(String path, String target) throws IOException {
        Files.createSymbolicLink(inFolder(path), Path.of(target));
    }

    private Path inFolder(String path) throws IOException {
        Path file = machine.resolve(path);
        Files.createDirectories(Objects.requireNonNull(file.getParent()));
        return file;
    }

    private int run(String... more) {
        List<String> args = new ArrayList<>(
                List.of("topology", "--sys=" + machine.resolve("sys"), "--proc=" + machine.resolve("proc")));
        args.addAll(List.of(more));
        return execute(args);
    }

    private int execute(List<String> args) {
        return SiphonMain.commandLine(args)
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(args.toArray(String[]::new));
    }

    @Test
    void gpusStandAgainstCacheDirectories() throws IOException {
        gpuBesideDisk();
        assertEquals(0, run("--cache-dir=/mnt/nvme0/siphon=500Gi", "--cache-dir", "/elsewhere"));
        assertEquals("""
                GPU  PCI           NUMA  MODEL        C0   C1
                0    0000:23:00.0  1     NVIDIA L40S  PIX  ?

                PIX: at most one PCIe bridge, PXB: several, PHB: a host bridge, NODE: host bridges of one NUMA node, SYS: NUMA nodes, ?: not known

                CACHE  DIRECTORY          DISKS                 NUMA
                c0     /mnt/nvme0/siphon  nvme0n1 0000:24:00.0  1
                c1     /elsewhere         -                     -
                """, out.toString());
        assertEquals("", err.toString());
    }

    @Test
    void withoutADirectoryTheDisksAreShown() throws IOException {
        gpuBesideDisk();
        assertEquals(0, run());
        assertTrue(out.toString().startsWith("GPU  PCI           NUMA  MODEL        NVME0\n"), out.toString());
        assertTrue(out.toString().contains("NVIDIA L40S  PIX\n"), out.toString());
        assertTrue(out.toString().endsWith("no cache directory named: see --cache-dir\n"), out.toString());
    }

    @Test
    void scriptsGetOneObject() throws IOException {
        gpuBesideDisk();
        assertEquals(0, run("--json", "--cache-dir=/mnt/nvme0/siphon,/elsewhere"));
        JsonObject all = JsonParser.parseString(out.toString()).getAsJsonObject();
        assertEquals(JsonParser.parseString("""
                {"numa_nodes": [0, 1],
                 "gpus": [{"pci": "0000:23:00.0", "numa_node": 1,
                   "bridges": ["pci0000:20", "0000:20:01.0", "0000:21:00.0", "0000:22:00.0"],
                   "vendor": "nvidia", "model": "NVIDIA L40S", "uuid": "GPU-1", "minor": 0, "mig": [],
                   "distances": {"0000:23:00.0": "X"}}],
                 "nvme": [{"name": "nvme0", "pci": "0000:24:00.0", "numa_node": 1,
                   "bridges": ["pci0000:20", "0000:20:01.0", "0000:21:00.0", "0000:22:01.0"],
                   "distances": {"0000:23:00.0": "PIX"}}],
                 "cache_directories": [
                   {"directory": "/mnt/nvme0/siphon", "disks": [{"name": "nvme0n1", "pci": "0000:24:00.0",
                     "numa_node": 1, "bridges": ["pci0000:20", "0000:20:01.0", "0000:21:00.0", "0000:22:01.0"]}],
                     "distances": {"0000:23:00.0": "PIX"}},
                   {"directory": "/elsewhere", "disks": [], "distances": {"0000:23:00.0": "?"}}]}
                """), all);
    }

    @Test
    void aMachineWithoutGpusIsNoError() {
        assertEquals(0, run("--cache-dir=/elsewhere"));
        assertEquals("""
                no GPU found

                CACHE  DIRECTORY   DISKS  NUMA
                c0     /elsewhere  -      -
                """, out.toString());
    }

    @Test
    void thisMachineIsShown() {
        assertEquals(0, execute(List.of("topology", "--cache-dir=/")));
        assertTrue(out.toString().contains("c0     /  "), out.toString());
    }

    @Test
    void aRelativeDirectoryIsWrongUsage() {
        assertEquals(2, run("--cache-dir=here=1Gi"));
        assertTrue(err.toString().contains("--cache-dir: must be absolute: here"), err.toString());
    }
}
