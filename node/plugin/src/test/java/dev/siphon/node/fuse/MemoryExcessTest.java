package dev.siphon.node.fuse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MemoryExcessTest {
    /// @param processes `OWNER BYTES`, separated by semicolons; they get the pids 1, 2, …
    private static List<MemoryExcess.ProcessMemory> uses(String processes) {
        List<MemoryExcess.ProcessMemory> uses = new ArrayList<>();
        for (String process : processes.split(";", -1)) {
            String[] parts = process.strip().split(" ", 2);
            uses.add(new MemoryExcess.ProcessMemory(uses.size() + 1, parts[0], Long.parseLong(parts[1])));
        }
        return uses;
    }

    @ParameterizedTest(name = "of {0}, {1} may stay: {2} end")
    @CsvSource({
        "'a 60; b 40', 100, ''",
        "'a 61; b 40', 100, '1'",
        "'a 40; b 61', 100, '2'",
        "'innocent 50; many 20; many 20; many 21; many 20', 100, '4 5'",
        "'innocent 50; many 20; many 20; many 21; many 20', 120, '4'",
        "'many 20; many 20; many 20; large 59; many 20', 138, '5'",
        "'a 90; a 10; b 50', 100, '1'",
        "'a 40; a 30; b 60', 60, '1 3'",
        "'a 40; b 40; c 40', 80, '3'",
        "'a 0; b 0', 0, ''",
        "'a 5; b 0', 0, '1'",
    })
    void theLargestOfTheOwnerWithTheMostEndUntilTheRestIsWithinTheLimit(String processes, long limit, String ended) {
        List<Long> pids = MemoryExcess.of(uses(processes), limit).stream()
                .map(excess -> excess.largest().pid())
                .toList();
        assertEquals(
                Arrays.stream(ended.split(" ", -1))
                        .filter(text -> !text.isEmpty())
                        .map(Long::parseLong)
                        .toList(),
                pids);
    }

    @Test
    void anOwnerOfManySmallOnesLosesThemBeforeAnotherLosesOneThatIsLarger() {
        List<MemoryExcess.ProcessMemory> uses =
                new ArrayList<>(List.of(new MemoryExcess.ProcessMemory(1, "innocent", 1000)));
        for (int pid = 2; pid <= 65; pid++) {
            uses.add(new MemoryExcess.ProcessMemory(pid, "many", 100));
        }
        List<MemoryExcess> excess = MemoryExcess.of(uses, 2000);
        assertEquals(54, excess.size());
        assertTrue(excess.stream().allMatch(each -> each.largest().owner().equals("many")), excess::toString);
        assertEquals(new MemoryExcess(new MemoryExcess.ProcessMemory(65, "many", 100), 6400, 7400), excess.getFirst());
        assertEquals(2100, excess.getLast().totalBytes());
    }
}
