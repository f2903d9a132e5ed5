package dev.siphon.controller.ldap;

import dev.siphon.controller.identity.CachedAccountDirectory.LookupOutcome;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Unit;
import java.time.Duration;
import java.util.Locale;

/// Metrics of the directory on `/metrics`.
final class DirectoryMetrics {
    private final Counter lookups;
    private final Histogram seconds;
    private final Gauge up;

    DirectoryMetrics(PrometheusRegistry registry) {
        lookups = Counter.builder()
                .name("siphon_directory_lookups_total")
                .help("Lookups of accounts by result; fresh and stale come from the cache")
                .labelNames("result")
                .register(registry);
        seconds = Histogram.builder()
                .name("siphon_directory_lookup_seconds")
                .help("How long callers waited for lookups of accounts, in seconds")
                .unit(Unit.SECONDS)
                .classicUpperBounds(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30)
                .classicOnly()
                .register(registry);
        up = Gauge.builder()
                .name("siphon_directory_up")
                .help("1 if the directory answered the last check, else 0: then answers may be stale")
                .register(registry);
    }

    void ended(LookupOutcome outcome, Duration waited) {
        lookups.labelValues(outcome.name().toLowerCase(Locale.ROOT)).inc();
        seconds.observe(waited.toNanos() / 1e9);
    }

    void up(boolean answers) {
        up.set(answers ? 1 : 0);
    }
}
