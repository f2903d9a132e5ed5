package dev.siphon.controller.key;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Decides the type of new keys.
public final class KeyTypes {
    private static final Logger LOG = LoggerFactory.getLogger(KeyTypes.class);
    private static final Duration EVERY = Duration.ofMinutes(1);

    /// Longer than [#EVERY], so that no key waits for the answers while [#start] refreshes them.
    private static final Duration KEPT = Duration.ofMinutes(2);

    private final Rule rule;
    private final Function<String, CephCiphers> ciphers;
    private final LongSupplier nanos;

    /// By cluster.
    private final Map<String, Known> known = new ConcurrentHashMap<>();

    /// What an administrator wants.
    public sealed interface Rule {
        /// The default of each cluster.
        record OfCluster() implements Rule {}

        /// One type, which clusters must allow.
        record Fixed(String type) implements Rule {}

        /// The type that suits all nodes, see [KeyTypeChoice].
        record ByKernels(NodeKernels nodes) implements Rule {}
    }

    private record Known(KeyTypeChoice choice, long since) {}

    /// @param ciphers asks a cluster, for a few seconds at most
    /// @param nanos the time, as [System#nanoTime]
    public KeyTypes(Rule rule, Function<String, CephCiphers> ciphers, LongSupplier nanos) {
        this.rule = rule;
        this.ciphers = ciphers;
        this.nanos = nanos;
    }

    /// Asks nodes and clusters once a minute, and logs each change; does nothing by other rules than the kernels'.
    ///
    /// @param clusters their ids
    public BackgroundTasks.Task start(BackgroundTasks tasks, Supplier<? extends Collection<String>> clusters) {
        return switch (rule) {
            case Rule.OfCluster _, Rule.Fixed _ -> () -> {};
            case Rule.ByKernels(NodeKernels nodes) ->
                tasks.every(
                        "key-types",
                        Duration.ZERO,
                        EVERY,
                        () -> clusters.get().forEach(cluster -> refresh(cluster, nodes)));
        };
    }

    /// Returns the type to request for the key of an identity; empty for the cluster's default. A home's key may
    /// go to a login host, whose kernel nobody knows, so kernels of nodes do not decide about it.
    public Optional<String> requested(String cluster, String userId) {
        return switch (rule) {
            case Rule.OfCluster _ -> Optional.empty();
            case Rule.Fixed(String type) -> Optional.of(type);
            case Rule.ByKernels(NodeKernels nodes) ->
                VolumeIdentity.isOfHome(userId)
                        ? Optional.empty()
                        : latest(cluster, nodes).requested();
        };
    }

    /// Whether the cluster's default will do if the cluster refuses the requested type.
    public boolean mayFallBack() {
        return rule instanceof Rule.ByKernels;
    }

    /// Asks the nodes now, for an administrator. A silent API server means the cluster's default.
    public KeyTypeChoice choose(CephCiphers of) {
        return switch (rule) {
            case Rule.OfCluster _ -> KeyTypeChoice.ofCluster("");
            case Rule.Fixed(String type) -> new KeyTypeChoice(Optional.of(type), "");
            case Rule.ByKernels(NodeKernels nodes) -> choose(nodes, () -> of);
        };
    }

    private KeyTypeChoice latest(String cluster, NodeKernels nodes) {
        return Optional.ofNullable(known.get(cluster))
                .filter(found -> nanos.getAsLong() - found.since() < KEPT.toNanos())
                .map(Known::choice)
                .orElseGet(() -> refresh(cluster, nodes));
    }

    private KeyTypeChoice refresh(String cluster, NodeKernels nodes) {
        KeyTypeChoice now = choose(nodes, () -> ciphers.apply(cluster));
        Optional<Known> before = Optional.ofNullable(known.put(cluster, new Known(now, nanos.getAsLong())));
        if (before.filter(each -> each.choice().requested().equals(now.requested()))
                .isEmpty()) {
            LOG.atInfo()
                    .addKeyValue("cluster", cluster)
                    .log("new keys have {}: {}", now.requested().orElse("the cluster's default type"), now.reason());
        }
        return now;
    }

    private static KeyTypeChoice choose(NodeKernels nodes, Supplier<CephCiphers> ciphers) {
        try {
            return KeyTypeChoice.byKernels(nodes.all(), ciphers.get());
        } catch (DriverException silent) {
            return KeyTypeChoice.ofCluster(String.valueOf(silent.getMessage()));
        }
    }
}
