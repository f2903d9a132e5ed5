package dev.siphon.node.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Choices by hand, from the tables in [TopologyTest].
final class RankingTest {
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

    private static String shown(List<CacheDevices> order) {
        return order.stream()
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
        assertEquals(order, shown(Ranking.order(caches(given), gpus(indices))));
    }

    @Test
    void theCallerDecidesAmongEquals() {
        roots = RecordedMachine.in(folder, "dgx-a100");
        Comparator<CacheDevices> last =
                Comparator.comparing(CacheDevices::directory).reversed();
        assertEquals(
                "nvme1 nvme3 nvme2 nvme0",
                shown(Ranking.order(caches("nvme0", "nvme1", "nvme2", "nvme3"), gpus("2"), last)));
        assertEquals("nvme1 nvme0", shown(Ranking.order(caches("nvme1", "nvme0"), List.of())));
    }

    @Test
    void whatIsNotKnownGoesBehindWhatIsNearOnly() {
        roots = RecordedMachine.in(folder, "dgx-a100");
        assertEquals("nvme0 unknown nvme1", shown(Ranking.order(caches("unknown", "nvme1", "nvme0"), gpus("0"))));
    }

    /// PXB + SYS, by the numbers of `nvmlGpuTopologyLevel_t`.
    @Test
    void severalGpusAreAddedUp() {
        roots = RecordedMachine.in(folder, "dgx-a100");
        assertEquals(20 + 50, Ranking.sum(caches("nvme0").getFirst(), gpus("0 2")));
    }
}
