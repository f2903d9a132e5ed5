package dev.siphon.controller.grant;

import java.util.Map;
import java.util.Optional;

/// Port: shows people what namespaces may use.
///
/// All methods throw [dev.siphon.csi.DriverException.BackendUnavailable] (UNAVAILABLE) if there is no reply, and
/// [dev.siphon.csi.DriverException.AccessDenied] (PERMISSION_DENIED) if the driver lacks the permission.
public interface NamespaceAccessStore {
    /// Returns the digests of the stored objects ([NamespaceAccess#digest]), "" for an object without one; empty
    /// if the store is not installed. A long list takes several requests.
    Optional<Map<NamespaceAccess.Key, String>> digests();

    /// Creates or replaces the object. Does nothing if the namespace is gone.
    void put(NamespaceAccess access);

    /// Removes the object. Idempotent.
    void remove(NamespaceAccess.Key key);

    /// Adds an event to the object; does nothing if it is gone.
    void warn(NamespaceAccess.Key key, String what);

    /// Returns the maximum number of accounts, and of datasets, in one object.
    int most();
}
