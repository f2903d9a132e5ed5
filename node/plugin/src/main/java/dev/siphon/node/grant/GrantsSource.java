package dev.siphon.node.grant;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import java.time.Duration;
import java.util.Optional;

/// Provides the grants: which namespaces may use whose volumes. Thread-safe.
@FunctionalInterface
public interface GrantsSource {
    /// The known grants.
    ///
    /// @param outdated why they are older than requested, in words; empty if they are not
    record KnownGrants(Grants grants, Optional<String> outdated) {}

    /// Returns grants that are at most `age` old, or the last known ones if newer ones cannot be read now. With age
    /// zero they include everything published before the call.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if none are known, or the published ones are
    ///     missing or malformed: without grants access is denied
    KnownGrants get(Duration age);
}
