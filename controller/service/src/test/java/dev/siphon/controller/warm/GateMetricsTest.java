package dev.siphon.controller.warm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class GateMetricsTest {
    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final GateMetrics metrics = new GateMetrics(registry);

    private <T extends MetricSnapshot> T scraped(Class<T> kind) {
        return registry.scrape().stream()
                .filter(kind::isInstance)
                .map(kind::cast)
                .findFirst()
                .orElseThrow();
    }

    private Map<String, Double> opened() {
        Map<String, Double> counts = new TreeMap<>();
        scraped(CounterSnapshot.class)
                .getDataPoints()
                .forEach(point -> counts.put(point.getLabels().get("result"), point.getValue()));
        return counts;
    }

    @Test
    void eachResultIsThereFromTheStart() {
        assertEquals(Map.of("warm", 0.0, "late", 0.0, "failed", 0.0, "unsuited", 0.0, "nothing", 0.0), opened());
    }

    @Test
    void theWaitsAddUp() {
        metrics.opened("warm", Duration.ofSeconds(20));
        metrics.opened("late", Duration.ofMinutes(10));
        metrics.opened("warm", Duration.ofSeconds(-1)); // the clock was set back
        HistogramSnapshot.HistogramDataPointSnapshot waits =
                scraped(HistogramSnapshot.class).getDataPoints().getFirst();
        assertEquals(620.0, waits.getSum());
        assertEquals(3, waits.getCount());
        assertEquals(2.0, opened().get("warm"));
    }
}
