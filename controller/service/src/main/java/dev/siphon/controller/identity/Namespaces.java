package dev.siphon.controller.identity;

import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;

/// Port: reads from namespaces and claims who may own volumes there. [#annotations], [#uid] and [#claim] return the
/// present state, uncached. [#uids] and [#all] may come from a watch, which lags by milliseconds, or by up to a
/// minute if the network drops it silently.
///
/// All methods throw [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if Kubernetes does not
/// answer. They throw [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if the driver may not read
/// it. They throw [dev.siphon.csi.DriverException.InUse] (FAILED_PRECONDITION) if there are more annotations than
/// they can hold.
public interface Namespaces {
    /// A claim.
    ///
    /// @param uid distinguishes it from an earlier one of the same name
    /// @param annotations as its author wrote them
    record Claim(String uid, Map<String, String> annotations) {
        public Claim {
            annotations = Map.copyOf(annotations);
        }
    }

    /// Returns the annotations of a namespace; empty if it does not exist.
    Optional<Map<String, String>> annotations(String namespace);

    /// Returns the uid of a namespace, which distinguishes it from an earlier one of the same name; empty if it
    /// does not exist.
    Optional<String> uid(String namespace);

    /// Returns the uids of all namespaces by name. Without a watch it takes several requests if there are many, so no
    /// RPC should wait for it.
    Map<String, String> uids();

    /// Passes every namespace to `each`, with those of its annotations whose key is in `keys`. Never holds all of
    /// their annotations in memory. It may take many requests, so no RPC should wait for it. A namespace with
    /// more of these annotations than can be held is passed without any.
    void all(Set<String> keys, BiConsumer<String, Map<String, String>> each);

    /// Returns a claim; empty if there is none of that name.
    Optional<Claim> claim(String namespace, String name);
}
