package dev.siphon.node.mount;

import dev.siphon.node.linux.MountEntry;
import java.time.Duration;
import java.util.Optional;

/// A kind of mount that this driver makes: how to recognize and end it.
public interface MountKind {
    /// Returns what `entry` shows, or empty if it is not of this kind.
    Optional<MountedVolume> recognize(MountEntry entry);

    /// Whether to force the unmount of a client that does not respond. Force fails the pending requests with an
    /// error, so it must not lose data that the client could still write.
    ///
    /// @param dead whether the client can certainly never write again
    boolean mayForce(boolean dead);

    /// Waits until a client whose last mount is gone has written its data, or until `limit`.
    void awaitEnd(MountEntry unmounted, Duration limit);
}
