package dev.siphon.controller.identity;

import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;

/// Port: what is written at namespaces and PVCs about who may own volumes there. Every answer is of this
/// moment.
///
/// All of it throws [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if there is no answer,
/// [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if the driver may not look, and
/// [dev.siphon.csi.DriverException.InUse] (FAILED_PRECONDITION) if there are more annotations than it can hold.
public interface Namespaces {
    /// A PVC.
    ///
    /// @param uid tells it from an earlier one of the same name
    /// @param annotations what its author wrote
    record Claim(String uid, Map<String, String> annotations) {
        public Claim {
            annotations = Map.copyOf(annotations);
        }
    }

    /// The annotations of a namespace; empty if there is no such namespace.
    Optional<Map<String, String>> annotations(String namespace);

    /// The uid of a namespace, which tells it from an earlier one of the same name; empty if there is no such
    /// namespace.
    Optional<String> uid(String namespace);

    /// The uids of all namespaces, by their names. Some requests for many of them, so nothing for a caller to wait
    /// for.
    Map<String, String> uids();

    /// Hands every namespace to `each`, with those of its annotations that have one of `keys`. They are never all
    /// in memory; some requests for many of them, so nothing for a caller to wait for. One that has more of these
    /// annotations than can be held is handed over with none.
    void all(Set<String> keys, BiConsumer<String, Map<String, String>> each);

    /// A PVC; empty if there is none of that name.
    Optional<Claim> claim(String namespace, String name);
}
