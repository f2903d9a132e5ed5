package dev.siphon.node.grant;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants.GroupKey;
import java.util.Set;

/// Port: what is granted to one namespace, where the grants of all have no room for it.
@FunctionalInterface
public interface NamespacePlaces {
    /// Nobody knows more.
    NamespacePlaces NONE = _ -> new Places(Set.of(), 0);

    /// The groups whose volumes pods of a namespace may use.
    ///
    /// @param more how many others there are
    record Places(Set<GroupKey> groups, int more) {
        public Places {
            groups = Set.copyOf(groups);
        }
    }

    /// Asks now; none for a namespace that may use nobody's volumes.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if there is no answer, or none that counts
    Places of(String namespace);
}
