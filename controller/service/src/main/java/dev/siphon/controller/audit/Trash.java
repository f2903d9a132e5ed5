package dev.siphon.controller.audit;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/// Port: the removed data of a file system that the mgr has yet to purge.
@FunctionalInterface
public interface Trash {
    /// Maximum number of entries with a removal time. The others are only counted.
    int MOST_TIMES = 10_000;

    /// Lists the entries.
    ///
    /// @param known the removal times of the previous list; these entries are not read again
    /// @return empty if the file system never had a volume
    Optional<Entries> list(String cluster, String fileSystem, Map<String, Instant> known);

    /// The waiting entries.
    ///
    /// @param count the number of all entries
    /// @param since the removal times of at most [#MOST_TIMES] of them, by name
    record Entries(int count, Map<String, Instant> since) {
        public Entries {
            since = Map.copyOf(since);
        }
    }
}
