package dev.siphon.controller.audit;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/// Port: what was removed in a file system and waits until the mgr has purged it.
@FunctionalInterface
public interface Trash {
    /// Of so many entries it is told since when they wait. Others are counted.
    int MOST_TIMES = 10_000;

    /// Lists it.
    ///
    /// @param known since when entries wait, from the list before: they are not asked for again
    /// @return empty where nothing was ever made
    Optional<Entries> list(String cluster, String fileSystem, Map<String, Instant> known);

    /// What waits.
    ///
    /// @param count of all entries
    /// @param since of at most [#MOST_TIMES] of them, by name
    record Entries(int count, Map<String, Instant> since) {
        public Entries {
            since = Map.copyOf(since);
        }
    }
}
