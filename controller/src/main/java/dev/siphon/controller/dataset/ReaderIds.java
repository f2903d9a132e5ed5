package dev.siphon.controller.dataset;

import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Whom the names of a dataset's readers meant when they were first seen: a name may be given to somebody else.
///
/// @param groups what the account's group is called, which follows from its immutable id
///     ([dev.siphon.controller.volume.CephNames#group]), by the reader's name; without those that were never seen
/// @param changed the readers whose names mean somebody else now
public record ReaderIds(Map<String, String> groups, Set<String> changed) {
    /// Nobody was seen.
    public static final ReaderIds NONE = new ReaderIds(Map.of(), Set.of());

    public ReaderIds {
        groups = Map.copyOf(groups);
        changed = Set.copyOf(changed);
    }

    /// Whom a reader's name meant; empty if it was never seen.
    Optional<String> group(String reader) {
        return Optional.ofNullable(groups.get(reader));
    }
}
