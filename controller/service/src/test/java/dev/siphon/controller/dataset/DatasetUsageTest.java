package dev.siphon.controller.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.dataset.DatasetUsage.PodsOnNode;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class DatasetUsageTest {
    private final DatasetUsage.Count count = new DatasetUsage.Count();

    @Test
    void whereMostAreComesFirst() {
        count.add("node-b", "u1");
        count.add("node-c", "u1");
        count.add("node-c", "u1");
        count.add("node-a", "u2");
        count.add("node-c", "lab");
        assertEquals(
                new DatasetUsage(
                        5,
                        List.of(
                                new PodsOnNode("node-c", 3, List.of("lab", "u1"), 0),
                                new PodsOnNode("node-a", 1, List.of("u2"), 0),
                                new PodsOnNode("node-b", 1, List.of("u1"), 0)),
                        0),
                count.sum());
    }

    @Test
    void nobodyIsSaidToo() {
        assertEquals(new DatasetUsage(0, List.of(), 0), count.sum());
    }

    @Test
    void whatIsTooMuchToWriteIsCounted() {
        IntStream.range(0, 4000).forEach(node -> count.add("node-%04d".formatted(node), "u1"));
        IntStream.range(0, 300).forEach(namespace -> count.add("node-3999", "u%03d".formatted(namespace)));
        DatasetUsage use = count.sum();
        assertEquals(4300, use.pods());
        assertEquals(50, use.nodes().size());
        assertEquals(3950, use.moreNodes());
        assertEquals(
                new PodsOnNode("node-3999", 301, List.of("u000", "u001", "u002", "u003", "u004"), 296),
                use.nodes().getFirst());
        assertEquals("node-0000", use.nodes().get(1).node());
    }

    @Test
    void aTwentiethOfTheTimeIsSpentAtMost() {
        assertEquals(Duration.ofSeconds(15), DatasetUsageReporter.paced().after(Duration.ofMillis(100)));
        assertEquals(Duration.ofSeconds(38), DatasetUsageReporter.paced().after(Duration.ofSeconds(2)));
    }
}
