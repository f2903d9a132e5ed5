package dev.siphon.node.mount;

import dev.siphon.node.linux.MountEntry;
import java.time.Duration;
import java.util.Optional;

/// A kind of mounts that this driver makes, and how they are told from others and ended.
public interface MountKind {
    /// What `entry` is, if it is of this kind.
    Optional<MountedVolume> recognize(MountEntry entry);

    /// Whether a client that does not answer may be unmounted by force, which ends the requests that wait for it
    /// with an error: so nothing may be lost that the client could still write.
    ///
    /// @param dead whether it is known that the client can never write again
    boolean mayForce(boolean dead);

    /// Called when the last mount of a client that worked is gone: returns when the client has written what it
    /// held, or at `limit`.
    void awaitEnd(MountEntry unmounted, Duration limit);
}
