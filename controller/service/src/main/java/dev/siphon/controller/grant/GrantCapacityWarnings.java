package dev.siphon.controller.grant;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Emits events when space for grants runs out: on the ConfigMap that nodes read, and on the NamespaceAccess of a
/// namespace. A lasting condition gets one event per controller.
public final class GrantCapacityWarnings {
    private static final Logger LOG = LoggerFactory.getLogger(GrantCapacityWarnings.class);
    private static final Duration EVERY = Duration.ofSeconds(5);

    /// From four fifths of its limit on, an object counts as nearly full.
    static final double NEARLY = 0.8;

    /// Maximum number of events per round.
    private static final int MOST = 50;

    private final Supplier<Set<String>> ofGrants;
    private final GrantsStore grants;
    private final Supplier<Map<NamespaceAccess.Key, String>> ofNamespaces;
    private final NamespaceAccessStore namespaces;

    private final Set<String> told = new HashSet<>();

    /// @param ofGrants the warnings about all grants
    /// @param ofNamespaces the warnings about namespaces' objects
    public GrantCapacityWarnings(
            Supplier<Set<String>> ofGrants,
            GrantsStore grants,
            Supplier<Map<NamespaceAccess.Key, String>> ofNamespaces,
            NamespaceAccessStore namespaces) {
        this.ofGrants = ofGrants;
        this.grants = grants;
        this.ofNamespaces = ofNamespaces;
        this.namespaces = namespaces;
    }

    /// Starts warning, until the task is closed.
    public BackgroundTasks.Task start(BackgroundTasks tasks) {
        return tasks.every("room-warnings", EVERY, EVERY, this::reconcile);
    }

    /// Emits the new warnings; failed ones are retried in the next round.
    void reconcile() {
        WarningRound round = new WarningRound();
        try {
            ofGrants.get().forEach(what -> round.warnOnce(what, () -> grants.warn(what)));
            ofNamespaces
                    .get()
                    .forEach((key, what) -> round.warnOnce(key + ": " + what, () -> {
                        namespaces.warn(key, what);
                        LOG.warn("NamespaceAccess {}: {}", key, what);
                    }));
            told.retainAll(round.now);
        } catch (DriverException notNow) {
            LOG.info("warnings about grants that run out of room are delayed: {}", notNow.getMessage());
        }
    }

    /// The warnings of one round.
    private final class WarningRound {
        private final Set<String> now = new HashSet<>();
        private int left = MOST;

        void warnOnce(String what, Runnable event) {
            now.add(what);
            if (left > 0 && !told.contains(what)) {
                left--;
                event.run();
                told.add(what);
            }
        }
    }
}
