package dev.siphon.controller.key;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/// Replaces the keys of volumes in use. A second identity with the same caps replaces the first in the store; the
/// first is removed once no session uses it. Mounted volumes stay mounted.
///
/// Every step is idempotent and resumes an interrupted run. A running controller is not disturbed.
public final class KeyRotation {
    private final VolumeIdentities volumes;
    private final ClientSessions sessions;
    private final KeyStore store;

    /// @param exists whether the volume still exists
    public KeyRotation(
            Identities identities, KeyStore store, ClientSessions sessions, Predicate<VolumeId.Provisioned> exists) {
        this.volumes = new VolumeIdentities(identities, store, exists);
        this.sessions = sessions;
        this.store = store;
    }

    /// The progress of one volume's rotation.
    ///
    /// @param current the identity whose key nodes get now
    /// @param usedBy the sessions that still use older identities; empty if only the current one is left
    public record Progress(VolumeIdentity current, List<ClientSession> usedBy) {
        public Progress {
            usedBy = List.copyOf(usedBy);
        }

        /// Returns whether only the current identity is left.
        public boolean isDone() {
            return usedBy.isEmpty();
        }
    }

    /// Returns the volumes whose key is older than `age`, or whose last rotation is unfinished.
    public List<VolumeId.Provisioned> due(Duration age, Instant now) {
        return store.volumes().stream()
                .filter(volume -> store.since(volume)
                                .filter(since -> since.isBefore(now.minus(age)))
                                .isPresent()
                        || volumes.minted(volume).size() > 1)
                .toList();
    }

    /// Resumes a rotation, or starts one.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the store has no key of the volume, the key's identity is
    ///     gone, or the volume was deleted
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the driver's own identity may not list
    ///     sessions
    public Progress rotate(VolumeId.Provisioned volume) {
        VolumeIdentity current = current(volume);
        if (olderThan(current).isEmpty()) {
            if (!volumes.minted(volume).contains(current)) {
                throw new DriverException.NotFound("volume " + volume + " has a key whose identity client."
                        + current.userId() + " is gone; the controller mints another within ten minutes");
            }
            // fails before any change if sessions cannot be listed
            var _ = sessions.of(volume.cluster(), volume.fileSystem(), current.userId());
            current = volumes.follow(current);
        }
        return finish(current);
    }

    /// Removes a volume's older identities that no session uses.
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
