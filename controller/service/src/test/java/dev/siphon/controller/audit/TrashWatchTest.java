package dev.siphon.controller.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.volume.Clusters;
import dev.siphon.csi.DriverException;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class TrashWatchTest {
    private static final Instant START = Instant.parse("2026-01-02T03:04:05Z");

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final Map<String, Instant> there = new HashMap<>();
    private final List<String> asked = new ArrayList<>();
    private final List<Map<String, Instant>> known = new ArrayList<>();
    private final SettableClock clock = new SettableClock();
    private final TrashWatch watch = new TrashWatch(new TwoClusters(), this::list, registry, clock);

    private Optional<Trash.Entries> list(String cluster, String fileSystem, Map<String, Instant> before) {
        asked.add(cluster + "/" + fileSystem);
        if (cluster.equals("dead")) {
            throw new DriverException.BackendUnavailable("it does not answer");
        }
        if (fileSystem.equals("unused")) {
            return Optional.empty();
        }
        known.add(before);
        return Optional.of(new Trash.Entries(there.size(), there));
    }

    private double value(String name) {
        return registry.scrape().stream()
                .filter(each -> each.getMetadata().getName().equals(name))
                .flatMap(each -> ((GaugeSnapshot) each).getDataPoints().stream())
                .filter(each -> "used".equals(each.getLabels().get("file_system")))
                .mapToDouble(GaugeSnapshot.GaugeDataPointSnapshot::getValue)
                .sum();
    }

    @Test
    void theOldestAndTheNumberAreTold() {
        watch.check();
        assertEquals(0, value("siphon_trash_entries"));
        assertEquals(0, value("siphon_trash_oldest_seconds"));
        there.put("a", START.minusSeconds(70));
        there.put("b", START.minusSeconds(30));
        watch.check();
        assertEquals(2, value("siphon_trash_entries"));
        assertEquals(70, value("siphon_trash_oldest_seconds"));
        there.remove("a");
        clock.now = START.plus(Duration.ofHours(1));
        watch.check();
        assertEquals(1, value("siphon_trash_entries"));
        assertEquals(3_630, value("siphon_trash_oldest_seconds"));
        there.clear();
        watch.check();
        assertEquals(0, value("siphon_trash_oldest_seconds"));
    }

    @Test
    void whatWasSeenIsNotAskedForAgain() {
        there.put("a", START);
        watch.check();
        watch.check();
        assertEquals(List.of(Map.of(), Map.of("a", START)), known);
    }

    @Test
    void aFileSystemWithoutVolumesIsLookedAtRarely() {
        for (int i = 0; i < 21; i++) {
            watch.check();
            clock.now = clock.now.plusSeconds(30);
        }
        assertEquals(21, asked.stream().filter("lab/used"::equals).count());
        assertEquals(2, asked.stream().filter("lab/unused"::equals).count());
        assertEquals(21, asked.stream().filter("dead/used"::equals).count(), "it may answer the next time");
    }

    private static final class SettableClock extends Clock {
        private Instant now = START;

        @Override
        public Instant instant() {
            return now;
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }
    }

    private static final class TwoClusters implements Clusters {
        @Override
        public String defaultCluster() {
            return "lab";
        }

        @Override
        public List<String> ids() {
            return List.of("dead", "lab");
        }

        @Override
        public List<String> monitors(String cluster) {
            return List.of();
        }

        @Override
        public List<FileSystem> fileSystems(String cluster) {
            return cluster.equals("dead")
                    ? List.of(new FileSystem("used", List.of()))
                    : List.of(new FileSystem("unused", List.of()), new FileSystem("used", List.of()));
        }

        @Override
        public Optional<String> trouble(String cluster, Duration deadline) {
            return Optional.empty();
        }
    }
}
