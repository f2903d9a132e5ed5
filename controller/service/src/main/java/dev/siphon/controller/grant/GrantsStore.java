package dev.siphon.controller.grant;

import dev.siphon.csi.Grants;

/// Port: the place where nodes read the grants.
public interface GrantsStore {
    /// Returns the last publication. A broken one counts as empty, because the groups hold the truth.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if it cannot be read now
    Grants last();

    /// Replaces the publication atomically: readers see the old grants or the new ones.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if they cannot be published now
    /// @throws dev.siphon.csi.DriverException.AccessDenied (PERMISSION_DENIED) if the driver may not publish
    /// @throws dev.siphon.csi.DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if they are too large
    void publish(Grants grants);

    /// Returns the maximum size of all grants in bytes; [Long#MAX_VALUE] if unlimited.
    long mostBytes();

    /// Returns whether nodes find grants that do not fit elsewhere, so that no request need be refused.
    default boolean isPartial() {
        return false;
    }

    /// Adds an event where the grants are; does nothing if the place has no events.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if there is no reply
    default void warn(String what) {}

    /// Returns where nodes read the grants, for messages.
    String where();
}
