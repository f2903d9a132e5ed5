package dev.siphon.node.grant;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants.GroupKey;
import java.util.Set;

/// Port: the grants of one namespace that do not fit among the grants of all.
@FunctionalInterface
public interface NamespacePlaces {
    /// Has no further grants.
    NamespacePlaces NONE = _ -> new Places(Set.of(), 0);

    /// The groups whose volumes pods of a namespace may use.
    ///
    /// @param more how many further groups there are
    record Places(Set<GroupKey> groups, int more) {
        public Places {
            groups = Set.copyOf(groups);
        }
    }

    /// Reads the present grants; none for a namespace that may use nobody's volumes.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if there is no valid reply
    Places of(String namespace);
}
