package dev.siphon.controller.key;

import dev.siphon.controller.key.VolumeIdentities.Fresh;
import dev.siphon.controller.volume.FileSystemRef;
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

/// Invalidates keys that may be stolen, and gives the volumes new ones.
///
/// Each step runs for all volumes before the next begins, so that no old key works while sessions are evicted:
///
/// 1. All identities are removed, so that the mons refuse them.
/// 2. Their sessions are evicted until none is left. The MDS then refuses existing mounts, and the OSDs refuse
///    these clients.
/// 3. A new identity with the same caps and an unused generation is minted and stored.
/// 4. Identities and sessions that appeared meanwhile are removed and evicted.
///
/// A repeat finishes an interrupted run: the store knows the last generation, and the volume shows what the
/// removed identities opened. A failure for one volume or cluster does not stop the others.
///
/// Until the sessions are evicted, only the key store, the mons and the MDS's own commands are used. A thief's
/// client may keep its capabilities and so block changes to the account's directory, including the mgr's volumes
/// commands.
public final class KeyRevocation {
    private final VolumeIdentities volumes;
    private final ClientSessions sessions;
    private final Function<VolumeId.Provisioned, Optional<VolumeCaps>> grants;
    private final Duration patience;

    /// @param exists whether the volume still exists
    /// @param grants the caps for a volume's key if the cluster has no identity of the volume left; empty if it
    ///     must not get a key
    /// @param patience how long to evict sessions that reappear
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

    /// The result for one volume, and what its old keys opened.
    ///
    /// @param current the identity whose key nodes get now; empty if the volume must not have one, or has none
    ///     yet
    /// @param objects where in RADOS the old keys could read and write, as `POOL/NAMESPACE`; empty if unknown
    /// @param shared the other volumes with objects there: clones and snapshots share their source's
    /// @param ended the evicted sessions
    /// @param elsewhere sessions of the same keys on other nodes; they continue until their tickets expire
    /// @param unfinished what remains to do, although the old keys are invalid; a repeat does it
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

    /// The result for several volumes.
    ///
    /// @param failed the volumes whose keys may still work, and why: [DriverException.NotFound] (NOT_FOUND) if
    ///     neither store nor cluster has a key, or the volume is gone; [DriverException.AccessDenied]
    ///     (PERMISSION_DENIED) if the driver's own identity may not evict sessions
    public record RevocationOutcome(List<Revoked> revoked, Map<VolumeId.Provisioned, DriverException> failed) {
        public RevocationOutcome {
            revoked = List.copyOf(revoked);
            failed = Map.copyOf(failed);
        }
    }

    /// Revokes every key of these volumes, and evicts every session that uses one.
    public RevocationOutcome revoke(List<VolumeId.Provisioned> all) {
        return new RevocationRound(_ -> true, false).run(all);
    }

    /// Like [#revoke], but keeps sessions elsewhere. If an interrupted run has already given a volume a new key,
    /// only sessions of older keys are evicted.
    public RevocationOutcome revokeAt(List<VolumeId.Provisioned> all, Predicate<ClientSession> where) {
        return new RevocationRound(where, true).run(all);
    }

    /// Returns the volumes of a file system that have a matching session.
    public List<VolumeId.Provisioned> mountedAt(String cluster, String fileSystem, Predicate<ClientSession> where) {
        return sessions.all(cluster, fileSystem).stream()
                .filter(where)
                .flatMap(session -> VolumeIdentity.parse(cluster, fileSystem, session.userId()).stream())
                .map(VolumeIdentity::volume)
                .distinct()
                .toList();
    }

    /// Returns the sessions of a file system that volume keys opened.
    public List<ClientSession> open(String cluster, String fileSystem) {
        return sessions.all(cluster, fileSystem).stream()
                .filter(session -> VolumeIdentity.parse(cluster, fileSystem, session.userId())
                        .isPresent())
                .toList();
    }

    /// A volume whose keys are being revoked.
    private static final class VolumeUnderRevocation {
        private final VolumeId.Provisioned volume;
        private final List<VolumeIdentity> minted;
        private final Optional<Map<String, String>> caps;
        private final KeyScope scope;
        private final int latest;
        private final List<ClientSession> ended = new ArrayList<>();
        private final List<ClientSession> elsewhere;
        private final Set<String> unfinished = new TreeSet<>();
        private Optional<VolumeIdentity> current;

        /// The newly minted identity; the store may or may not have its key.
        private Optional<VolumeIdentity> fresh = Optional.empty();

        /// @param minted the identities to remove
        /// @param caps their caps, if any identity is left
        /// @param latest the last generation ever used
        /// @param current the identity whose sessions stay
        private VolumeUnderRevocation(
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

    /// One revocation of several volumes.
    private final class RevocationRound {
        private final Predicate<ClientSession> where;
        private final boolean keepNewKey;
        private final Map<VolumeId.Provisioned, VolumeUnderRevocation> underRevocation = new LinkedHashMap<>();
        private final Map<VolumeId.Provisioned, DriverException> failed = new LinkedHashMap<>();

        /// @param keepNewKey whether a volume that already has a new key keeps it
        private RevocationRound(Predicate<ClientSession> where, boolean keepNewKey) {
            this.where = where;
            this.keepNewKey = keepNewKey;
        }

        private RevocationOutcome run(List<VolumeId.Provisioned> all) {
            // fails before any change if sessions cannot be listed
            all.stream()
                    .distinct()
                    .collect(Collectors.groupingBy(FileSystemRef::of))
                    .forEach(this::findSessions);
            List<VolumeUnderRevocation> toRevoke = underRevocation.values().stream()
                    .filter(each -> each.current.isEmpty())
                    .toList();
            toRevoke.forEach(each -> orFail(each, () -> each.minted.forEach(volumes::remove)));
            places().forEach(this::end);
            toRevoke.stream().filter(this::hasNotFailed).forEach(each -> orFail(each, () -> give(each)));
            toRevoke.stream().map(each -> each.volume.cluster()).distinct().forEach(volumes::lookAgain);
            toRevoke.stream().filter(this::hasNotFailed).forEach(this::removeRest);
            if (!toRevoke.isEmpty()) {
                toRevoke.stream()
                        .map(each -> FileSystemRef.of(each.volume))
                        .distinct()
                        .forEach(this::end);
            }
            return new RevocationOutcome(
                    underRevocation.values().stream()
                            .filter(this::hasNotFailed)
                            .map(VolumeUnderRevocation::done)
                            .toList(),
                    failed);
        }

        private Set<FileSystemRef> places() {
            return underRevocation.values().stream()
                    .map(each -> FileSystemRef.of(each.volume))
                    .collect(Collectors.toSet());
        }

        private boolean hasNotFailed(VolumeUnderRevocation each) {
            return !failed.containsKey(each.volume);
        }

        private void orFail(VolumeUnderRevocation each, Runnable body) {
            try {
                body.run();
            } catch (DriverException failure) {
                failed.put(each.volume, failure);
            }
        }

        private void findSessions(FileSystemRef place, List<VolumeId.Provisioned> here) {
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
                findSessions(volume, open);
            } catch (DriverException failure) {
                failed.put(volume, failure);
            }
        }

        private void findSessions(VolumeId.Provisioned volume, List<ClientSession> open) {
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
            boolean done = keepNewKey && isDone(volume, minted, here);
            underRevocation.put(
                    volume,
                    new VolumeUnderRevocation(
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

        /// Returns whether an interrupted run has removed the identities of these sessions and stored a new key.
        private boolean isDone(VolumeId.Provisioned volume, List<VolumeIdentity> minted, List<ClientSession> here) {
            Set<String> ids = minted.stream().map(VolumeIdentity::userId).collect(Collectors.toSet());
            return !here.isEmpty()
                    && volumes.current(volume).filter(minted::contains).isPresent()
                    && here.stream().map(ClientSession::userId).noneMatch(ids::contains);
        }

        /// Evicts the sessions of revoked keys in a file system. Sessions that keep reappearing do not harm a
        /// volume, because its new key belongs to another identity.
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
                underRevocation.values().stream()
                        .filter(each -> FileSystemRef.of(each.volume).equals(place))
                        .forEach(each ->
                                each.unfinished.add("its identities are removed, but sessions may still be open: "
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

        /// Returns the volume whose revoked key a session uses.
        private Optional<VolumeUnderRevocation> revoked(FileSystemRef place, ClientSession session) {
            return volumeOf(place, session)
                    .flatMap(volume -> Optional.ofNullable(underRevocation.get(volume)))
                    .filter(each -> hasNotFailed(each) && !each.isSpared(session.userId()));
        }

        private void give(VolumeUnderRevocation each) {
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

        private Optional<Fresh> mint(VolumeUnderRevocation each) {
            VolumeIdentity next = new VolumeIdentity(each.volume, each.latest + 1);
            return each.caps
                    .map(caps -> Optional.of(volumes.mint(next, caps)))
                    .orElseGet(() -> grants.apply(each.volume).map(volumeCaps -> volumes.mint(next, volumeCaps)));
        }

        /// Removes identities that a controller minted meanwhile in place of the removed ones.
        private void removeRest(VolumeUnderRevocation each) {
            try {
                volumes.minted(each.volume).stream()
                        .filter(identity -> !each.isSpared(identity.userId()))
                        .filter(_ -> each.current.isPresent())
                        .forEach(volumes::remove);
            } catch (DriverException notNow) {
                each.unfinished.add("an identity that was minted meanwhile is not removed: " + notNow.getMessage()
                        + "; siphon key rotate " + each.volume + " removes it");
            }
        }
    }

    private static Optional<VolumeId.Provisioned> volumeOf(FileSystemRef place, ClientSession session) {
        return VolumeIdentity.parse(place.cluster(), place.fileSystem(), session.userId())
                .map(VolumeIdentity::volume);
    }

    private static String keyless(VolumeId.Provisioned volume, DriverException why) {
        return "the earlier keys no longer work and their sessions are ended, but nodes may have no new key: "
                + why.getMessage() + "; run siphon key revoke " + volume + " again to create one";
    }
}
