package dev.siphon.controller.grant;

import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Reports in `/metrics` and the log how much of the space for grants is used.
public final class GrantsMetrics {
    private static final Logger LOG = LoggerFactory.getLogger(GrantsMetrics.class);

    private final Gauge bytes;
    private final Gauge limit;
    private final Gauge largest;
    private final Gauge leftOut;

    /// The warnings in force.
    private volatile Set<String> told = Set.of();

    public GrantsMetrics(PrometheusRegistry registry) {
        bytes = Gauge.builder()
                .name("siphon_grants_published_bytes")
                .help("Bytes of the published grants, which nodes read")
                .register(registry);
        limit = Gauge.builder()
                .name("siphon_grants_limit_bytes")
                .help("Limit of the published grants, in bytes; one account may use an eighth; +Inf for a file")
                .register(registry);
        largest = Gauge.builder()
                .name("siphon_grants_largest_account_bytes")
                .help("Bytes of the published grants that the largest account uses")
                .register(registry);
        leftOut = Gauge.builder()
                .name("siphon_grants_left_out")
                .help("Accounts' groups and datasets whose grant is not published because it does not fit")
                .register(registry);
    }

    /// Updates metrics and warnings after a change; calls must not overlap.
    void published(GrantsCapacity.Fitting fitting, GrantsCapacity room) {
        bytes.set((double) fitting.bytes());
        limit.set(room.most() == Long.MAX_VALUE ? Double.POSITIVE_INFINITY : (double) room.most());
        largest.set(fitting.used().values().stream()
                .mapToDouble(Long::doubleValue)
                .max()
                .orElse(0));
        leftOut.set(fitting.leftOut().size());
        // no changing numbers: each new text would be logged again
        Set<String> now = new TreeSet<>();
        if (isNearly(fitting.bytes(), room.most())) {
            now.add("the published grants take four fifths or more of the " + room.most() + " bytes that fit");
        }
        if (isNearly(fitting.ofDatasets(), room.ofDatasets())) {
            now.add("datasets take four fifths or more of the " + room.ofDatasets()
                    + " bytes for datasets in the published grants");
        }
        fitting.used().forEach((account, used) -> {
            if (isNearly(used, room.ofAccount())) {
                now.add("account " + account + " takes four fifths or more of the " + room.ofAccount()
                        + " bytes for one account in the published grants");
            }
        });
        fitting.leftOut().values().forEach(why -> now.add("grants are not published: " + why));
        now.stream().filter(what -> !told.contains(what)).forEach(what -> LOG.warn("{}", what));
        told = Set.copyOf(now);
    }

    private static boolean isNearly(long used, long most) {
        return (double) used > (double) most * GrantCapacityWarnings.NEARLY;
    }

    /// Returns the warnings that were logged and still hold.
    Set<String> told() {
        return told;
    }
}
