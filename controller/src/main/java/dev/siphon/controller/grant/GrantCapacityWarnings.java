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

/// Warns by events of room for grants that runs out: at the ConfigMap that nodes read, and at the NamespaceAccess
/// of a namespace. Each is said once while it is so, whatever else changes, and again by the next controller.
public final class GrantCapacityWarnings {
    private static final Logger LOG = LoggerFactory.getLogger(GrantCapacityWarnings.class);
    private static final Duration EVERY = Duration.ofSeconds(5);

    /// What an object has is nearly all that it can from here on: four fifths.
    static final double NEARLY = 0.8;

    /// How many events one round adds.
    private static final int MOST = 50;

    private final Supplier<Set<String>> ofGrants;
    private final GrantsStore grants;
    private final Supplier<Map<NamespaceAccess.Key, String>> ofNamespaces;
    private final NamespaceAccessStore namespaces;

    private final Set<String> told = new HashSet<>();

    /// @param ofGrants what there is to be said of the grants of all
    /// @param ofNamespaces what there is to be said of namespaces' objects
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

    /// Begins to warn, until the task is closed.
    public BackgroundTasks.Task start(BackgroundTasks tasks) {
        return tasks.every("room-warnings", EVERY, EVERY, this::reconcile);
    }

    /// Says what is new. What cannot be said now is said in the next round.
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
            LOG.info("nobody is warned now of room that runs out: {}", notNow.getMessage());
        }
    }

    /// What there is to be said in one round.
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
