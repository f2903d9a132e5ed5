package dev.siphon.controller.grant;

import dev.siphon.csi.Grants;

/// Port: where nodes read the grants.
public interface GrantsStore {
    /// What was published last; nothing if that is broken, since the groups themselves are the truth.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if it cannot be known now
    Grants last();

    /// Puts these in the place of what was published; readers see the old ones or the new ones.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if they cannot be published now
    /// @throws dev.siphon.csi.DriverException.AccessDenied (PERMISSION_DENIED) if the driver may not publish
    /// @throws dev.siphon.csi.DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if they are too many
    void publish(Grants grants);

    /// How long the text of all grants may be; [Long#MAX_VALUE] for as long as one likes.
    long mostBytes();

    /// Whether nodes find elsewhere what has no room here, so that nobody has to be refused for it.
    default boolean isPartial() {
        return false;
    }

    /// Adds an event where the grants are; nothing if nobody sees events there.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if there is no answer
    default void warn(String what) {}

    /// Where nodes read them, in words.
    String where();
}
