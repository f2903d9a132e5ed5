package dev.siphon.node.grant;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;

/// Reads the grants that the controller publishes, over the network.
@FunctionalInterface
public interface PublishedGrants {
    /// Reads once. Returns within a few seconds, whatever the server does.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if there was no valid reply
    /// @throws DriverException.NotFound (NOT_FOUND) if none are published
    /// @throws DriverException.BackendFault (INTERNAL) if the published grants cannot be parsed
    Grants read();
}
