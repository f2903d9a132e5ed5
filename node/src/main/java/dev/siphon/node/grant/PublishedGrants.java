package dev.siphon.node.grant;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;

/// The grants where the controller publishes them, over a network.
@FunctionalInterface
public interface PublishedGrants {
    /// Asks once. Returns within a few seconds, whatever the other end does.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if there was no answer, or none that counts
    /// @throws DriverException.NotFound (NOT_FOUND) if none are published
    /// @throws DriverException.BackendFault (INTERNAL) if what is published cannot be read
    Grants read();
}
