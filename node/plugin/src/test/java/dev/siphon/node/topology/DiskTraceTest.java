package dev.siphon.node.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The first GPU is at the switch of nvme0 and nvme1. The second is at the other socket, at another root port of
/// the root complex of nvme2 to nvme4.
final class DiskTraceTest {
    @TempDir
    private Path folder = Path.of("");

    private static String named(CacheDevices cache) {
        return cache.devices().stream()
                .map(device -> device.name()
                        + device.path().map(path -> "@" + path.address()).orElse(""))
                .sorted()
                .collect(Collectors.joining(" "));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "disk,      nvme2n1@0000:c4:00.0,                                            SYS, PHB",
        "part,      nvme0n1@0000:24:00.0,                                            PIX, SYS",
        "raid,      nvme0n1@0000:24:00.0 nvme1n1@0000:25:00.0,                       PIX, SYS",
        "lvm,       nvme0n1@0000:24:00.0 nvme1n1@0000:25:00.0,                       PIX, SYS",
        "crypt,     nvme0n1@0000:24:00.0 nvme1n1@0000:25:00.0,                       PIX, SYS",
        "wide,      nvme0n1@0000:24:00.0 nvme1n1@0000:25:00.0 nvme2n1@0000:c4:00.0,  SYS, SYS",
        "btrfs,     nvme0n1@0000:24:00.0 nvme1n1@0000:25:00.0 nvme2n1@0000:c4:00.0,  SYS, SYS",
        "multipath, nvme3n1@0000:c5:00.0,                                            SYS, PHB",
        "vmd,       nvme4n1@10000:01:00.0,                                           SYS, PHB",
        "fabrics,   nvme5n1,                                                         ?,   ?",
        "loop,      '',                                                              ?,   ?",
        "tmpfs,     '',                                                              ?,   ?",
        "nfs,       '',                                                              ?,   ?",
        "gone,      '',                                                              ?,   ?",
        "../other,  '',                                                              ?,   ?",
    })
    void aDirectoryIsTracedToItsDisks(String directory, String devices, String first, String second) {
        MachineRoots roots = RecordedMachine.in(folder, "disks");
        CacheDevices cache = CacheDevices.find(roots, Path.of("/c/" + directory + "/siphon"));
        assertEquals(devices, named(cache));
        assertEquals(
                List.of(first, second),
                Topology.read(roots).gpus().stream()
                        .map(gpu -> cache.from(new DevicePlace.OfGpu(gpu)).label())
                        .toList());
    }

    @Test
    void aLinkIsFollowed() throws IOException {
        MachineRoots roots = RecordedMachine.in(folder, "disks");
        Path link = Files.createSymbolicLink(folder.resolve("cache"), Path.of("/c/raid"));
        assertEquals("", named(CacheDevices.find(roots, link)), "it leads nowhere on this machine");
        Path real = Files.createDirectories(folder.resolve("real"));
        Path here = Files.createSymbolicLink(folder.resolve("here"), real);
        Files.writeString(
                roots.proc().resolve("self/mountinfo"), "30 22 259:2 / " + real.toRealPath() + " rw - xfs /dev/x rw\n");
        assertEquals("nvme2n1@0000:c4:00.0", named(CacheDevices.find(roots, here.resolve("not/yet"))));
    }

    @Test
    void aMountTableThatCannotBeReadIsNoDisk() throws IOException {
        MachineRoots roots = RecordedMachine.in(folder, "disks");
        Path table = roots.proc().resolve("self/mountinfo");
        Files.writeString(table, "nonsense\n");
        assertEquals("", named(CacheDevices.find(roots, Path.of("/c/raid"))));
        Files.delete(table);
        assertEquals("", named(CacheDevices.find(roots, Path.of("/c/raid"))));
    }
}
