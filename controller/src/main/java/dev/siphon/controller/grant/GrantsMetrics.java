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
                .help("What the grants that nodes read take")
                .register(registry);
        limit = Gauge.builder()
                .name("siphon_grants_limit_bytes")
                .help("What they can take at most, an account an eighth of it; +Inf for a file")
                .register(registry);
        largest = Gauge.builder()
                .name("siphon_grants_largest_account_bytes")
                .help("What the account with the most takes of it")
                .register(registry);
        leftOut = Gauge.builder()
                .name("siphon_grants_left_out")
                .help("Accounts' groups and datasets with a grant that is not published, since it does not fit")
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
            now.add("the grants that nodes read take four fifths or more of " + room.most() + " bytes");
        }
        if (isNearly(fitting.ofDatasets(), room.ofDatasets())) {
            now.add("datasets take four fifths or more of the " + room.ofDatasets()
                    + " bytes that they have among the grants that nodes read");
        }
        fitting.used().forEach((account, used) -> {
            if (isNearly(used, room.ofAccount())) {
                now.add("account " + account + " takes four fifths or more of the " + room.ofAccount()
                        + " bytes that an account has for the grants that nodes read");
            }
        });
        fitting.leftOut().values().forEach(why -> now.add("grants are left out: " + why));
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
