package dev.siphon.controller.grant;

import java.util.Map;
import java.util.Optional;

/// Port: where people see what namespaces may use.
///
/// All of it throws [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if there is no answer, and
/// [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if the driver may not do it.
public interface NamespaceAccessStore {
    /// The digests of those that are there ([NamespaceAccess#digest]), "" for one that has none; empty if the store is
    /// not installed. Some requests for many of them.
    Optional<Map<NamespaceAccess.Key, String>> digests();

    /// Puts this in the place of what is there. Nothing if the namespace is gone.
    void put(NamespaceAccess access);

    /// Removes it. Repeating it is safe.
    void remove(NamespaceAccess.Key key);

    /// Adds an event to it; nothing if it is gone.
    void warn(NamespaceAccess.Key key, String what);

    /// How many accounts, and how many datasets, one of them names.
    int most();
}
