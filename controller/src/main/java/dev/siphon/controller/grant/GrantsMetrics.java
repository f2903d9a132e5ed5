package dev.siphon.controller.grant;

import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What `/metrics` and the log say of the room for grants.
public final class GrantsMetrics {
    private static final Logger LOG = LoggerFactory.getLogger(GrantsMetrics.class);

    /// From here on the log warns: four fifths.
    private static final double NEARLY = 0.8;

    private final Gauge bytes;
    private final Gauge limit;
    private final Gauge largest;
    private final Gauge leftOut;

    /// Of what was warned.
    private final Set<String> told = new HashSet<>();

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

    /// After each change, one after another.
    void published(GrantsLimit.Fitting fitting, long most, long ofAccount) {
        bytes.set((double) fitting.bytes());
        limit.set(most == Long.MAX_VALUE ? Double.POSITIVE_INFINITY : (double) most);
        largest.set(fitting.used().values().stream()
                .mapToDouble(Long::doubleValue)
                .max()
                .orElse(0));
        leftOut.set(fitting.leftOut().size());
        Set<String> now = new HashSet<>();
        if ((double) fitting.bytes() > (double) most * NEARLY) {
            tell(now, "the grants that nodes read take " + fitting.bytes() + " of " + most + " bytes");
        }
        fitting.used().forEach((account, used) -> {
            if ((double) used > (double) ofAccount * NEARLY) {
                tell(
                        now,
                        "account " + account + " takes four fifths or more of the " + ofAccount
                                + " bytes that an account has for the grants that nodes read");
            }
        });
        fitting.leftOut().values().forEach(why -> tell(now, "grants are left out: " + why));
        told.retainAll(now);
    }

    private void tell(Set<String> now, String what) {
        now.add(what);
        if (told.add(what)) {
            LOG.warn("{}", what);
        }
    }

    /// What the log was warned of and lasts.
    Set<String> told() {
        return Set.copyOf(told);
    }
}
