package dev.siphon.controller.allowance;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Instant;
import java.util.Collection;
import java.util.List;

/// The metrics of the reconciler.
final class QuotaReconcilerMetrics {
    private final Gauge groups;
    private final Counter changes;
    private final Gauge lastSuccess;
    private volatile List<AllowanceUse> fullest = List.of();

    QuotaReconcilerMetrics(PrometheusRegistry registry) {
        groups = Gauge.builder()
                .name("siphon_account_groups")
                .help("Groups of accounts at the last comparison with the directory. in_step: the quota is the"
                        + " directory's allowance. gone: the directory has no such account; the quota stays")
                .labelNames("state")
                .register(registry);
        changes = Counter.builder()
                .name("siphon_account_quota_changes_total")
                .help("Quotas of groups that were changed to a new allowance in the directory")
                .register(registry);
        lastSuccess = Gauge.builder()
                .name("siphon_account_reconciled_timestamp_seconds")
                .help("When the quotas of all accounts were last compared with the directory, in seconds since 1970; 0"
                        + " for not yet")
                .register(registry);
        GaugeWithCallback.builder()
                .name("siphon_account_allowance_bytes")
                .help(
                        "Allowances of the 20 accounts that have written the largest share of theirs, at the last comparison")
                .labelNames("cluster", "file_system", "account")
                .callback(callback -> fullest.forEach(each -> callback.call(
                        (double) each.allowanceBytes(), each.cluster(), each.fileSystem(), each.account())))
                .register(registry);
        GaugeWithCallback.builder()
                .name("siphon_account_written_bytes")
                .help("Bytes that these accounts have written, without what only snapshots hold")
                .labelNames("cluster", "file_system", "account")
                .callback(callback -> fullest.forEach(each ->
                        callback.call((double) each.writtenBytes(), each.cluster(), each.fileSystem(), each.account())))
                .register(registry);
    }

    /// @param all all accounts with an allowance; only the fullest are published, so that the number of series is
    /// bounded
    void used(Collection<AllowanceUse> all) {
        fullest = AllowanceUse.fullest(all);
    }

    void ended(QuotaReconciler.ReconcileResult round, Instant at) {
        groups.labelValues("in_step").set(round.inStep());
        groups.labelValues("gone").set(round.gone());
        changes.inc(round.changed());
        if (round.whole()) {
            lastSuccess.set((double) at.getEpochSecond());
        }
    }
}
