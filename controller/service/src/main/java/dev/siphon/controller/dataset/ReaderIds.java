package dev.siphon.controller.dataset;

import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// The accounts that the names of a dataset's readers meant when first seen: a name may pass to another account.
///
/// @param groups the account's group, which follows from its immutable id
///     ([dev.siphon.controller.volume.CephNames#group]), by reader name; without names that were never seen
/// @param changed the readers whose names mean another account now
public record ReaderIds(Map<String, String> groups, Set<String> changed) {
    /// No names were seen.
    public static final ReaderIds NONE = new ReaderIds(Map.of(), Set.of());

    public ReaderIds {
        groups = Map.copyOf(groups);
        changed = Set.copyOf(changed);
    }

    /// Returns the group that a reader's name meant; empty if it was never seen.
    Optional<String> group(String reader) {
        return Optional.ofNullable(groups.get(reader));
    }
}
