package dev.siphon.controller.key;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

/// Makes keys that somebody may have worthless at once, and gives the volumes others.
///
/// For each volume, in this order: another identity with the same caps is minted and put in the store; all
/// earlier ones are removed, so that the mons refuse them; their sessions are ended, after which the MDS
/// refuses what was mounted and the OSDs refuse these clients. Killed anywhere, a repeat finishes it:
/// sessions that are left say which volumes were not done.
public final class Revocation {
    private final VolumeIdentities volumes;
    private final ClientSessions sessions;

    /// @param exists whether there is still such a volume
    public Revocation(
            Identities identities, KeyStore store, ClientSessions sessions, Predicate<VolumeId.Provisioned> exists) {
        this.volumes = new VolumeIdentities(identities, store, exists);
        this.sessions = sessions;
    }

    /// What was done for one volume, and what its earlier keys opened.
    ///
    /// @param current the identity whose key nodes get now; empty if the cluster had none to make another like
    /// @param objects where in RADOS they could read and write, as `POOL/NAMESPACE`; empty if nobody knows any more
    /// @param shared the other volumes whose objects are there too: clones and snapshots share their source's
    /// @param ended the sessions that were ended
    /// @param elsewhere sessions of the same keys at other nodes, which go on until their tickets end
    public record Revoked(
            VolumeId.Provisioned volume,
            Optional<VolumeIdentity> current,
            Optional<String> objects,
            Set<VolumeId.Provisioned> shared,
            List<ClientSession> ended,
            List<ClientSession> elsewhere) {
        public Revoked {
            shared = Set.copyOf(shared);
            ended = List.copyOf(ended);
            elsewhere = List.copyOf(elsewhere);
        }
    }

    /// Revokes every key of a volume, and ends every session that uses one.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if it has none, in the store and in the cluster
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the driver's own identity may not end sessions
    public Revoked revoke(VolumeId.Provisioned volume) {
        return renew(volume, _ -> true);
    }

    /// The volumes of a file system that have a session at a place.
    public List<VolumeId.Provisioned> mountedAt(String cluster, String fileSystem, Predicate<ClientSession> where) {
        return sessions.all(cluster, fileSystem).stream()
                .filter(where)
                .flatMap(session -> VolumeIdentity.parse(cluster, fileSystem, session.userId()).stream())
                .map(VolumeIdentity::volume)
                .distinct()
                .toList();
    }

    /// As [#revoke], but that sessions elsewhere go on. Where an earlier run was cut off after it had removed the
    /// identities of the sessions that are left, only these are ended.
    public Revoked revokeAt(VolumeId.Provisioned volume, Predicate<ClientSession> where) {
        List<ClientSession> open =
                sessionsOf(volume, latest(volume)).stream().filter(where).toList();
        return isDone(volume, open) ? end(volume, open) : renew(volume, where);
    }

    private int latest(VolumeId.Provisioned volume) {
        List<VolumeIdentity> minted = volumes.minted(volume);
        return Math.max(
                minted.isEmpty() ? 0 : minted.getLast().generation(),
                volumes.current(volume).map(VolumeIdentity::generation).orElse(0));
    }

    private Revoked renew(VolumeId.Provisioned volume, Predicate<ClientSession> where) {
        int latest = latest(volume);
        if (latest == 0) {
            throw new DriverException.NotFound("volume " + volume + " has no key of its own");
        }
        // fails before anything is changed where sessions could not be ended
        List<ClientSession> open = sessionsOf(volume, latest);
        List<VolumeIdentity> minted = volumes.minted(volume);
        Optional<String> objects = Optional.empty();
        Set<VolumeId.Provisioned> shared = Set.of();
        Optional<VolumeIdentity> next = Optional.empty();
        if (!minted.isEmpty()) {
            List<MintedIdentity> ofGroup = ofGroup(minted.getLast());
            objects = objects(ofGroup, minted.getLast());
            shared = sharing(ofGroup, volume, objects);
            next = Optional.of(volumes.follow(minted.getLast()));
        }
        minted.forEach(volumes::remove);
        List<ClientSession> ended = new ArrayList<>();
        List<ClientSession> elsewhere = new ArrayList<>();
        for (ClientSession session : next.isEmpty() ? open : sessionsOf(volume, latest)) {
            (where.test(session) ? ended : elsewhere).add(session);
        }
        ended.forEach(session -> sessions.end(volume.cluster(), session));
        return new Revoked(volume, next, objects, shared, ended, elsewhere);
    }

    /// Whether an earlier run that was cut off has removed the identities of these sessions.
    private boolean isDone(VolumeId.Provisioned volume, List<ClientSession> open) {
        List<String> minted =
                volumes.minted(volume).stream().map(VolumeIdentity::userId).toList();
        return !open.isEmpty() && open.stream().noneMatch(session -> minted.contains(session.userId()));
    }

    private Revoked end(VolumeId.Provisioned volume, List<ClientSession> open) {
        open.forEach(session -> sessions.end(volume.cluster(), session));
        Optional<VolumeIdentity> current = volumes.current(volume);
        List<MintedIdentity> ofGroup = current.map(this::ofGroup).orElse(List.of());
        Optional<String> objects = current.flatMap(identity -> objects(ofGroup, identity));
        return new Revoked(volume, current, objects, sharing(ofGroup, volume, objects), open, List.of());
    }

    /// The sessions of all identities that a volume has had.
    private List<ClientSession> sessionsOf(VolumeId.Provisioned volume, int latest) {
        List<ClientSession> open = new ArrayList<>();
        for (int generation = 1; generation <= latest; generation++) {
            open.addAll(sessions.of(
                    volume.cluster(), volume.fileSystem(), new VolumeIdentity(volume, generation).userId()));
        }
        return open;
    }

    private List<MintedIdentity> ofGroup(VolumeIdentity identity) {
        VolumeId.Provisioned volume = identity.volume();
        return volumes.startingWith(
                volume.cluster(), VolumeIdentity.PREFIX + volume.fileSystem() + "." + volume.group() + ".");
    }

    private static Optional<String> objects(List<MintedIdentity> minted, VolumeIdentity identity) {
        return minted.stream()
                .filter(each -> each.userId().equals(identity.userId()))
                .flatMap(each -> each.objects().stream())
                .findFirst();
    }

    private static Set<VolumeId.Provisioned> sharing(
            List<MintedIdentity> ofGroup, VolumeId.Provisioned volume, Optional<String> objects) {
        Set<VolumeId.Provisioned> shared = new TreeSet<>(Comparator.comparing(VolumeId::toString));
        for (MintedIdentity each : ofGroup) {
            if (objects.isPresent() && each.objects().equals(objects)) {
                VolumeIdentity.parse(volume.cluster(), volume.fileSystem(), each.userId())
                        .map(VolumeIdentity::volume)
                        .filter(other -> !other.equals(volume))
                        .ifPresent(shared::add);
            }
        }
        return shared;
    }
}
