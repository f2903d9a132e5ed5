package dev.siphon.controller.key;

import dev.siphon.controller.key.VolumeIdentities.Fresh;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Makes keys that somebody may have worthless at once, and gives the volumes others.
///
/// Each step is done for all volumes before the next begins, so that no key of any opens anything while
/// sessions are ended: all identities are removed, so that the mons refuse them; their sessions are ended
/// until there is none, after which the MDS refuses what was mounted and the OSDs refuse these clients;
/// another identity with the same caps, of a generation that there has not been, is minted and put in the
/// store; what came up meanwhile is removed and ended. Killed anywhere, a repeat finishes it: the store says
/// which generation there was, and what the removed identities opened can be told from the volume. What fails
/// for one volume or cluster does not keep the others.
///
/// Until the sessions are ended only the key store, the mons and the MDS's own commands are asked. A thief's client
/// that
/// gives no capability back makes whatever changes the account's directory wait, the mgr's volumes commands
/// with it.
public final class KeyRevocation {
    private final VolumeIdentities volumes;
    private final ClientSessions sessions;
    private final Function<VolumeId.Provisioned, Optional<VolumeCaps>> grants;
    private final Duration patience;

    /// @param exists whether there is still such a volume
    /// @param grants what a volume's key is to open, where the cluster has no identity of it any more; empty if
    ///     it is to have none
    /// @param patience how long to go on ending sessions that come again
    public KeyRevocation(
            Identities identities,
            KeyStore store,
            ClientSessions sessions,
            Predicate<VolumeId.Provisioned> exists,
            Function<VolumeId.Provisioned, Optional<VolumeCaps>> grants,
            Duration patience) {
        this.volumes = new VolumeIdentities(identities, store, exists);
        this.sessions = sessions;
        this.grants = grants;
        this.patience = patience;
    }

    /// What was done for one volume, and what its earlier keys opened.
    ///
    /// @param current the identity whose key nodes get now; empty if it is to have none, or none yet
    /// @param objects where in RADOS they could read and write, as `POOL/NAMESPACE`; empty if nobody knows
    ///     any more
    /// @param shared the other volumes whose objects are there too: clones and snapshots share their source's
    /// @param ended the sessions that were ended
    /// @param elsewhere sessions of the same keys at other nodes, which go on until their tickets end
    /// @param unfinished what is still to be done, though the earlier keys are worthless; a repeat does it
    public record Revoked(
            VolumeId.Provisioned volume,
            Optional<VolumeIdentity> current,
            Optional<String> objects,
            Set<VolumeId.Provisioned> shared,
            List<ClientSession> ended,
            List<ClientSession> elsewhere,
            List<String> unfinished) {
        public Revoked {
            shared = Set.copyOf(shared);
            ended = List.copyOf(ended);
            elsewhere = List.copyOf(elsewhere);
            unfinished = List.copyOf(unfinished);
        }
    }

    /// What was done for many.
    ///
    /// @param failed those whose keys may still be good, and why: [DriverException.NotFound] (NOT_FOUND) if a
    ///     volume has none, in the store and in the cluster, or is gone; [DriverException.AccessDenied]
    ///     (PERMISSION_DENIED) if the driver's own identity may not end sessions
    public record RevocationOutcome(List<Revoked> revoked, Map<VolumeId.Provisioned, DriverException> failed) {
        public RevocationOutcome {
            revoked = List.copyOf(revoked);
            failed = Map.copyOf(failed);
        }
    }

    /// Revokes every key of these volumes, and ends every session that uses one.
    public RevocationOutcome revoke(List<VolumeId.Provisioned> all) {
        return new RevocationRound(_ -> true, false).run(all);
    }

    /// As [#revoke], but that sessions elsewhere go on. Where an earlier run was cut off after it had given a
    /// volume another key, only the sessions of earlier ones are ended.
    public RevocationOutcome revokeAt(List<VolumeId.Provisioned> all, Predicate<ClientSession> where) {
        return new RevocationRound(where, true).run(all);
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

    /// A file system, whose MDS daemons are asked together.
    private record FileSystemRef(String cluster, String fileSystem) {
        static FileSystemRef of(VolumeId.Provisioned volume) {
            return new FileSystemRef(volume.cluster(), volume.fileSystem());
        }
    }

    /// A volume while its keys are revoked.
    private static final class Doomed {
        private final VolumeId.Provisioned volume;
        private final List<VolumeIdentity> minted;
        private final Optional<Map<String, String>> caps;
        private final KeyScope scope;
        private final int latest;
        private final List<ClientSession> ended = new ArrayList<>();
        private final List<ClientSession> elsewhere;
        private final Set<String> unfinished = new TreeSet<>();
        private Optional<VolumeIdentity> current;

        /// What was minted for it, whether or not it is known that the store has it.
        private Optional<VolumeIdentity> fresh = Optional.empty();

        /// @param minted the identities to remove
        /// @param caps what they allow, if there are any
        /// @param latest the last generation that there has been
        /// @param current whose sessions are spared
        private Doomed(
                VolumeId.Provisioned volume,
                List<VolumeIdentity> minted,
                Optional<Map<String, String>> caps,
                KeyScope scope,
                int latest,
                List<ClientSession> elsewhere,
                Optional<VolumeIdentity> current) {
            this.volume = volume;
            this.minted = minted;
            this.caps = caps;
            this.scope = scope;
            this.latest = latest;
            this.elsewhere = elsewhere;
            this.current = current;
        }

        private boolean isSpared(String userId) {
            return Stream.concat(current.stream(), fresh.stream())
                    .anyMatch(identity -> identity.userId().equals(userId));
        }

        private Revoked done() {
            return new Revoked(
                    volume,
                    current,
                    scope.objects(),
                    scope.shared(),
                    ended.stream().distinct().toList(),
                    elsewhere,
                    List.copyOf(unfinished));
        }
    }

    /// One revocation of some volumes.
    private final class RevocationRound {
        private final Predicate<ClientSession> where;
        private final boolean goOn;
        private final Map<VolumeId.Provisioned, Doomed> doomed = new LinkedHashMap<>();
        private final Map<VolumeId.Provisioned, DriverException> failed = new LinkedHashMap<>();

        /// @param goOn whether a volume that has another key already keeps that
        private RevocationRound(Predicate<ClientSession> where, boolean goOn) {
            this.where = where;
            this.goOn = goOn;
        }

        private RevocationOutcome run(List<VolumeId.Provisioned> all) {
            // fails before anything is changed where sessions could not be ended
            all.stream()
                    .distinct()
                    .collect(Collectors.groupingBy(FileSystemRef::of))
                    .forEach(this::look);
            List<Doomed> anew = doomed.values().stream()
                    .filter(each -> each.current.isEmpty())
                    .toList();
            anew.forEach(each -> orFail(each, () -> each.minted.forEach(volumes::remove)));
            places().forEach(this::end);
            anew.stream().filter(this::goesOn).forEach(each -> orFail(each, () -> give(each)));
            anew.stream().map(each -> each.volume.cluster()).distinct().forEach(volumes::lookAgain);
            anew.stream().filter(this::goesOn).forEach(this::removeRest);
            if (!anew.isEmpty()) {
                anew.stream()
                        .map(each -> FileSystemRef.of(each.volume))
                        .distinct()
                        .forEach(this::end);
            }
            return new RevocationOutcome(
                    doomed.values().stream()
                            .filter(this::goesOn)
                            .map(Doomed::done)
                            .toList(),
                    failed);
        }

        private Set<FileSystemRef> places() {
            return doomed.values().stream()
                    .map(each -> FileSystemRef.of(each.volume))
                    .collect(Collectors.toSet());
        }

        private boolean goesOn(Doomed each) {
            return !failed.containsKey(each.volume);
        }

        private void orFail(Doomed each, Runnable body) {
            try {
                body.run();
            } catch (DriverException failure) {
                failed.put(each.volume, failure);
            }
        }

        private void look(FileSystemRef place, List<VolumeId.Provisioned> here) {
            try {
                Map<VolumeId.Provisioned, List<ClientSession>> open =
                        sessions.all(place.cluster(), place.fileSystem()).stream()
                                .filter(session -> volumeOf(place, session).isPresent())
                                .collect(Collectors.groupingBy(
                                        session -> volumeOf(place, session).orElseThrow()));
                here.forEach(volume -> lookOrFail(volume, open.getOrDefault(volume, List.of())));
            } catch (DriverException failure) {
                here.forEach(volume -> failed.put(volume, failure));
            }
        }

        private void lookOrFail(VolumeId.Provisioned volume, List<ClientSession> open) {
            try {
                look(volume, open);
            } catch (DriverException failure) {
                failed.put(volume, failure);
            }
        }

        private void look(VolumeId.Provisioned volume, List<ClientSession> open) {
            List<VolumeIdentity> minted = volumes.minted(volume);
            int latest = Math.max(
                    volumes.latest(volume),
                    open.stream()
                            .flatMap(session -> VolumeIdentity.of(volume, session.userId()).stream())
                            .mapToInt(VolumeIdentity::generation)
                            .max()
                            .orElse(0));
            if (latest == 0) {
                failed.put(volume, new DriverException.NotFound("volume " + volume + " has no key of its own"));
                return;
            }
            List<ClientSession> here = open.stream().filter(where).toList();
            boolean done = goOn && isDone(volume, minted, here);
            doomed.put(
                    volume,
                    new Doomed(
                            volume,
                            minted,
                            minted.isEmpty() ? Optional.empty() : volumes.caps(minted.getLast()),
                            minted.isEmpty() ? KeyScope.UNKNOWN : KeyScope.by(minted.getLast(), volumes),
                            latest,
                            done
                                    ? List.of()
                                    : open.stream().filter(where.negate()).toList(),
                            done ? volumes.current(volume) : Optional.empty()));
        }

        /// Whether an earlier run that was cut off has removed the identities of these sessions, and nodes
        /// have another key.
        private boolean isDone(VolumeId.Provisioned volume, List<VolumeIdentity> minted, List<ClientSession> here) {
            Set<String> ids = minted.stream().map(VolumeIdentity::userId).collect(Collectors.toSet());
            return !here.isEmpty()
                    && volumes.current(volume).filter(minted::contains).isPresent()
                    && here.stream().map(ClientSession::userId).noneMatch(ids::contains);
        }

        /// Ends the sessions that revoked keys have at a place. Those that come again whatever is done get no
        /// volume into trouble: its other key is another identity's.
        private void end(FileSystemRef place) {
            try {
                SessionEviction evicted = SessionEviction.of(
                        sessions,
                        place.cluster(),
                        place.fileSystem(),
                        session ->
                                where.test(session) && revoked(place, session).isPresent(),
                        patience);
                evicted.ended().forEach(session -> revoked(place, session).ifPresent(each -> each.ended.add(session)));
                for (ClientSession session : evicted.left()) {
                    revoked(place, session).ifPresent(each -> each.unfinished.add(again(each.volume, evicted)));
                }
            } catch (DriverException notEnded) {
                doomed.values().stream()
                        .filter(each -> FileSystemRef.of(each.volume).equals(place))
                        .forEach(each -> each.unfinished.add("its identities are removed, but sessions may go on: "
                                + notEnded.getMessage() + "; run this again"));
            }
        }

        private String again(VolumeId.Provisioned volume, SessionEviction evicted) {
            return evicted.left().stream()
                    .filter(session ->
                            VolumeIdentity.of(volume, session.userId()).isPresent())
                    .collect(Collectors.collectingAndThen(
                            Collectors.toList(),
                            own -> new SessionEviction(List.of(), own)
                                    .leftInWords()
                                    .orElseThrow()));
        }

        /// The volume whose revoked key a session uses.
        private Optional<Doomed> revoked(FileSystemRef place, ClientSession session) {
            return volumeOf(place, session)
                    .flatMap(volume -> Optional.ofNullable(doomed.get(volume)))
                    .filter(each -> goesOn(each) && !each.isSpared(session.userId()));
        }

        private void give(Doomed each) {
            try {
                Optional<Fresh> minted = mint(each);
                each.fresh = minted.map(Fresh::identity);
                each.current = minted.map(volumes::give);
            } catch (DriverException.NotFound gone) {
                throw gone;
            } catch (DriverException notGiven) {
                each.unfinished.add(keyless(each.volume, notGiven));
            }
        }

        private Optional<Fresh> mint(Doomed each) {
            VolumeIdentity next = new VolumeIdentity(each.volume, each.latest + 1);
            return each.caps
                    .map(caps -> Optional.of(volumes.mint(next, caps)))
                    .orElseGet(() -> grants.apply(each.volume).map(volumeCaps -> volumes.mint(next, volumeCaps)));
        }

        /// Removes what a controller has minted meanwhile, which missed what was removed.
        private void removeRest(Doomed each) {
            try {
                volumes.minted(each.volume).stream()
                        .filter(identity -> !each.isSpared(identity.userId()))
                        .filter(_ -> each.current.isPresent())
                        .forEach(volumes::remove);
            } catch (DriverException notNow) {
                each.unfinished.add("what was minted meanwhile is not removed: " + notNow.getMessage()
                        + "; siphon key rotate " + each.volume + " does that");
            }
        }
    }

    private static Optional<VolumeId.Provisioned> volumeOf(FileSystemRef place, ClientSession session) {
        return VolumeIdentity.parse(place.cluster(), place.fileSystem(), session.userId())
                .map(VolumeIdentity::volume);
    }

    private static String keyless(VolumeId.Provisioned volume, DriverException why) {
        return "the earlier keys are worthless and their sessions are ended, but it is not sure that nodes have another: "
                + why.getMessage() + "; siphon key revoke " + volume + " once more gives them one";
    }
}
