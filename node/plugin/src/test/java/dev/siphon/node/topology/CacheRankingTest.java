package dev.siphon.node.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Choices worked out by hand from the tables in [TopologyTest].
final class CacheRankingTest {
    @TempDir
    private Path folder = Path.of("");

    private MachineRoots roots = MachineRoots.live();

    private List<CacheDevices> caches(String... directories) {
        return Arrays.stream(directories)
                .map(directory -> CacheDevices.find(roots, Path.of("/mnt").resolve(directory)))
                .toList();
    }

    private List<Gpu> gpus(String indices) {
        List<Gpu> all = Topology.read(roots).gpus();
        return Arrays.stream(indices.split(" "))
                .filter(index -> !index.isEmpty())
                .map(index -> all.get(Integer.parseInt(index)))
                .toList();
    }

    private static String shown(CacheRanking ranking) {
        return ranking.directories().stream()
                .map(cache -> String.valueOf(cache.directory().getFileName()))
                .collect(Collectors.joining(" "));
    }

    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({
        "dgx-a100,    '',              nvme0 nvme1 nvme2 nvme3",
        "dgx-a100,    0,               nvme0 nvme1 nvme2 nvme3",
        "dgx-a100,    3,               nvme1 nvme0 nvme2 nvme3",
        "dgx-a100,    6 7,             nvme3 nvme0 nvme1 nvme2",
        "dgx-a100,    1 4 5,           nvme2 nvme0 nvme1 nvme3",
        "dgx-a100,    0 1 2 3 4 5 6 7, nvme0 nvme1 nvme2 nvme3",
        "two-sockets, 3,               nvme1 nvme0 nvme2 nvme3",
        "two-sockets, 5,               nvme2 nvme3 nvme0 nvme1",
        "two-sockets, 0 2 7,           nvme2 nvme3 nvme0 nvme1",
        "two-sockets, 2 3 7,           nvme1 nvme2 nvme3 nvme0",
        "one-root,    6,               nvme0 nvme1 nvme2 nvme3",
        "one-root,    2 6,             nvme0 nvme1 nvme2 nvme3",
        "mig,         1,               nvme1 nvme0",
        "vm-flat,     0 1,             nvme0",
        "vm-cloud,    2,               nvme0 nvme1",
    })
    void theNearestComesFirst(String machine, String indices, String order) {
        roots = RecordedMachine.in(folder, machine);
        String[] given = Arrays.stream(order.split(" ")).sorted().toArray(String[]::new);
        assertEquals(order, shown(CacheRanking.of(caches(given), places(gpus(indices)))));
    }

    private static List<DevicePlace> places(List<Gpu> gpus) {
        return gpus.stream().<DevicePlace>map(DevicePlace.OfGpu::new).toList();
    }

    @Test
    void whatIsNotKnownGoesBehindWhatIsNearOnly() {
        roots = RecordedMachine.in(folder, "dgx-a100");
        assertEquals(
                "nvme0 unknown nvme1", shown(CacheRanking.of(caches("unknown", "nvme1", "nvme0"), places(gpus("0")))));
    }

    /// PXB + SYS, with the values of `nvmlGpuTopologyLevel_t`.
    @Test
    void severalGpusAreAddedUp() {
        roots = RecordedMachine.in(folder, "dgx-a100");
        assertEquals(
                List.of(new CacheRanking.Ranked(Path.of("/mnt/nvme0"), 20 + 50, Distance.SYS)),
                CacheRanking.of(caches("nvme0"), places(gpus("0 2"))).directories());
    }

    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({
        "dgx-a100,    0,               nvme0",
        "dgx-a100,    0 2,             nvme0 nvme1",
        "dgx-a100,    0 1 2 3 4 5 6 7, ''",
        "two-sockets, 0,               nvme0 nvme1",
        "two-sockets, 5,               nvme2 nvme3",
        "one-root,    2 6,             nvme0",
        "vm-cloud,    2,               ''",
    })
    void severalMayBeNearestAndIfAllAreItDoesNotMatter(String machine, String indices, String nearest) {
        roots = RecordedMachine.in(folder, machine);
        CacheRanking ranking = CacheRanking.of(caches("nvme0", "nvme1", "nvme2", "nvme3"), places(gpus(indices)));
        assertEquals(
                nearest,
                ranking.nearest().stream()
                        .map(path -> String.valueOf(path.getFileName()))
                        .collect(Collectors.joining(" ")));
    }

    /// Devices of which only the NUMA node is known.
    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({
        "two-sockets, 1, nvme2 nvme3, NODE",
        "two-sockets, 0, nvme0 nvme1, NODE",
        "dgx-a100,    7, nvme2,       NODE",
        "dgx-a100,    6, '',          SYS",
        "vm-cloud,    0, '',          ?",
    })
    void aNumaNodeIsEnough(String machine, int node, String nearest, String distance) {
        roots = RecordedMachine.in(folder, machine);
        CacheRanking ranking =
                CacheRanking.of(caches("nvme0", "nvme1", "nvme2", "nvme3"), List.of(new DevicePlace.OnNode(node)));
        assertEquals(
                nearest,
                ranking.nearest().stream()
                        .map(path -> String.valueOf(path.getFileName()))
                        .collect(Collectors.joining(" ")));
        assertEquals(distance, ranking.directories().getFirst().distance().label());
    }
}
