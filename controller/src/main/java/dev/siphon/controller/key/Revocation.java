package dev.siphon.controller.key;

import dev.siphon.controller.key.VolumeIdentities.Fresh;
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
/// For each volume, in this order: another identity with the same caps is minted, whose key nobody gets yet; all
/// earlier ones are removed, so that the mons refuse them; their sessions are ended, after which the MDS
/// refuses what was mounted and the OSDs refuse these clients; the other key is put in the store. Killed anywhere,
/// a repeat finishes it: sessions that are left say which volumes were not done.
///
/// Until the sessions are ended only the mons and the MDS's own commands are asked. A thief's client that gives no
/// capability back makes whatever changes the account's directory wait, the mgr's volumes commands with it.
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
    /// @param keyless why nodes get no other key yet, though the earlier ones are worthless; a repeat gives them
    ///     one
    public record Revoked(
            VolumeId.Provisioned volume,
            Optional<VolumeIdentity> current,
            Optional<String> objects,
            Set<VolumeId.Provisioned> shared,
            List<ClientSession> ended,
            List<ClientSession> elsewhere,
            Optional<String> keyless) {
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

    /// The sessions of a file system that keys of volumes opened.
    public List<ClientSession> open(String cluster, String fileSystem) {
        return sessions.all(cluster, fileSystem).stream()
                .filter(session -> VolumeIdentity.parse(cluster, fileSystem, session.userId())
                        .isPresent())
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
        Opened opened = minted.isEmpty() ? Opened.UNKNOWN : opened(minted.getLast());
        Successor next = minted.isEmpty() ? Successor.NONE : successor(minted.getLast());
        minted.forEach(volumes::remove);
        List<ClientSession> ended = new ArrayList<>();
        List<ClientSession> elsewhere = new ArrayList<>();
        for (ClientSession session : minted.isEmpty() ? open : sessionsOf(volume, latest)) {
            (where.test(session) ? ended : elsewhere).add(session);
        }
        ended.forEach(session -> sessions.end(volume.cluster(), session));
        Successor given = given(volume, next);
        Optional<VolumeIdentity> current =
                given.keyless().isPresent() ? Optional.empty() : given.fresh().map(Fresh::identity);
        return new Revoked(volume, current, opened.objects(), opened.shared(), ended, elsewhere, given.keyless());
    }

    /// The identity that is to take the place of the earlier ones, or why there is none.
    private record Successor(Optional<Fresh> fresh, Optional<String> keyless) {
        static final Successor NONE = new Successor(Optional.empty(), Optional.empty());
    }

    /// Mints it: only an identity that is there still tells which caps it has. That the mons refuse it does not keep
    /// the earlier ones.
    private Successor successor(VolumeIdentity last) {
        try {
            return new Successor(Optional.of(volumes.mintAfter(last)), Optional.empty());
        } catch (DriverException.AccessDenied denied) {
            // who may not mint may not remove, either
            throw denied;
        } catch (DriverException notMinted) {
            return new Successor(Optional.empty(), Optional.of(keyless(last.volume(), notMinted)));
        }
    }

    private Successor given(VolumeId.Provisioned volume, Successor next) {
        try {
            next.fresh().ifPresent(volumes::give);
            return next;
        } catch (DriverException.NotFound gone) {
            throw gone;
        } catch (DriverException notGiven) {
            return new Successor(next.fresh(), Optional.of(keyless(volume, notGiven)));
        }
    }

    private static String keyless(VolumeId.Provisioned volume, DriverException why) {
        return "the earlier keys are worthless and their sessions are ended, but nodes have no other key yet: "
                + why.getMessage() + "; siphon key revoke " + volume + " once more gives them one";
    }

    /// Whether an earlier run that was cut off has removed the identities of these sessions, and nodes have another
    /// key.
    private boolean isDone(VolumeId.Provisioned volume, List<ClientSession> open) {
        List<VolumeIdentity> minted = volumes.minted(volume);
        return !open.isEmpty()
                && volumes.current(volume).filter(minted::contains).isPresent()
                && open.stream()
                        .noneMatch(session ->
                                minted.stream().map(VolumeIdentity::userId).anyMatch(session.userId()::equals));
    }

    private Revoked end(VolumeId.Provisioned volume, List<ClientSession> open) {
        open.forEach(session -> sessions.end(volume.cluster(), session));
        Optional<VolumeIdentity> current = volumes.current(volume);
        Opened opened = current.map(this::opened).orElse(Opened.UNKNOWN);
        return new Revoked(volume, current, opened.objects(), opened.shared(), open, List.of(), Optional.empty());
    }

    /// What an identity opens, and whose objects are there too.
    private record Opened(Optional<String> objects, Set<VolumeId.Provisioned> shared) {
        static final Opened UNKNOWN = new Opened(Optional.empty(), Set.of());
    }

    private Opened opened(VolumeIdentity identity) {
        List<MintedIdentity> ofGroup = ofGroup(identity);
        Optional<String> objects = objects(ofGroup, identity);
        return new Opened(objects, sharing(ofGroup, identity.volume(), objects));
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
