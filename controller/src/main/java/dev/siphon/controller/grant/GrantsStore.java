package dev.siphon.controller.grant;

import dev.siphon.csi.Grants;

/// Port: where nodes read the grants.
public interface GrantsStore {
    /// What was published last; nothing if that cannot be read, since the groups themselves are the truth.
    Grants last();

    /// Puts these in the place of what was published; readers see the old ones or the new ones.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if they cannot be published now
    void publish(Grants grants);
}
