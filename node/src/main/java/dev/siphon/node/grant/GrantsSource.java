package dev.siphon.node.grant;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import java.time.Duration;
import java.util.Optional;

/// Where a node learns which namespaces may use whose volumes. Safe for several threads.
@FunctionalInterface
public interface GrantsSource {
    /// What is known of the grants.
    ///
    /// @param outdated why nothing newer is known, in words; empty if they are as young as was asked for
    record KnownGrants(Grants grants, Optional<String> outdated) {}

    /// The grants as they were at most `age` ago, or the last that are known if nobody tells newer ones now. Grants
    /// that were published before this was called are always in those of age zero.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if none are known, or if they are missing or broken
    ///     where they are published: nobody is let in for want of them
    KnownGrants get(Duration age);
}
