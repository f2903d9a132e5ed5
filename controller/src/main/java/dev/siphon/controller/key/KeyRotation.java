package dev.siphon.controller.key;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/// Gives volumes other keys while they are in use: a second identity with the same caps takes the place of the
/// first in the store, and the first goes when no session uses it any more. What is mounted stays mounted.
///
/// Everything may be repeated, and goes on where it was cut off; it does not disturb a controller that runs.
public final class KeyRotation {
    private final VolumeIdentities volumes;
    private final ClientSessions sessions;
    private final KeyStore store;

    /// @param exists whether there is still such a volume
    public KeyRotation(
            Identities identities, KeyStore store, ClientSessions sessions, Predicate<VolumeId.Provisioned> exists) {
        this.volumes = new VolumeIdentities(identities, store, exists);
        this.sessions = sessions;
        this.store = store;
    }

    /// How far the rotation of one volume is.
    ///
    /// @param current the identity whose key nodes get now
    /// @param usedBy the sessions that still use older ones; empty if only the current one is left
    public record Progress(VolumeIdentity current, List<ClientSession> usedBy) {
        public Progress {
            usedBy = List.copyOf(usedBy);
        }

        /// Whether only the current identity is left.
        public boolean isDone() {
            return usedBy.isEmpty();
        }
    }

    /// The volumes whose key is older than `age`, or whose last rotation has not come to its end.
    public List<VolumeId.Provisioned> due(Duration age, Instant now) {
        return store.volumes().stream()
                .filter(volume -> store.since(volume)
                                .filter(since -> since.isBefore(now.minus(age)))
                                .isPresent()
                        || volumes.minted(volume).size() > 1)
                .toList();
    }

    /// Goes on with a rotation that was begun before, or begins one.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the volume has no key, in the store and in the cluster
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the driver's own identity may not see sessions
    public Progress rotate(VolumeId.Provisioned volume) {
        VolumeIdentity current = current(volume);
        if (olderThan(current).isEmpty()) {
            if (!volumes.minted(volume).contains(current)) {
                throw new DriverException.NotFound("volume " + volume + " has a key whose identity client."
                        + current.userId() + " is gone; the controller mints another within ten minutes");
            }
            // so that nothing is changed where the end of sessions could not be seen
            var _ = sessions.of(volume.cluster(), volume.fileSystem(), current.userId());
            current = volumes.follow(current);
        }
        return finish(current);
    }

    /// Removes the older identities of a volume that no session uses any more.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the volume has no key
    public Progress finish(VolumeId.Provisioned volume) {
        return finish(current(volume));
    }

    private Progress finish(VolumeIdentity current) {
        List<ClientSession> usedBy = new ArrayList<>();
        for (VolumeIdentity older : olderThan(current)) {
            List<ClientSession> use =
                    sessions.of(current.volume().cluster(), current.volume().fileSystem(), older.userId());
            if (use.isEmpty()) {
                volumes.remove(older);
            }
            usedBy.addAll(use);
        }
        return new Progress(current, usedBy);
    }

    private VolumeIdentity current(VolumeId.Provisioned volume) {
        return volumes.current(volume)
                .orElseThrow(() -> new DriverException.NotFound("volume " + volume + " has no key of its own"));
    }

    private List<VolumeIdentity> olderThan(VolumeIdentity current) {
        return volumes.minted(current.volume()).stream()
                .filter(each -> each.generation() < current.generation())
                .toList();
    }
}
