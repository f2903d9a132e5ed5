package dev.siphon.controller.dataset;

import dev.siphon.controller.key.ClientSession;
import dev.siphon.controller.key.ClientSessions;
import dev.siphon.controller.key.DatasetIdentity;
import dev.siphon.controller.key.DatasetKeyStore;
import dev.siphon.controller.key.Identities;
import dev.siphon.controller.key.MintedIdentity;
import dev.siphon.controller.key.SessionEviction;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/// Revokes keys of datasets at once.
///
/// Each step covers all identities before the next one starts. First, all are retired: the mons refuse their keys,
/// and a node that requests the dataset meanwhile gets another identity. Then their sessions are evicted until none
/// is left; after that the MDS refuses existing mounts and the OSDs refuse these clients. Finally, node identities
/// are removed, and volumes of claims get another key. After a crash anywhere, a retry finishes the work: the mons
/// list what is retired.
public final class DatasetRevocation {
    private final Identities identities;
    private final ClientSessions sessions;
    private final DatasetVolumes.Keys keys;
    private final Duration patience;

    /// @param patience how long to keep evicting sessions that reconnect
    public DatasetRevocation(
            Identities identities, ClientSessions sessions, DatasetVolumes.Keys keys, Duration patience) {
        this.identities = identities;
        this.sessions = sessions;
        this.keys = keys;
        this.patience = patience;
    }

    /// An identity to revoke.
    ///
    /// @param path the directory that it reads; empty if it is retired
    /// @param objects where in RADOS it reads, as `POOL/NAMESPACE`; empty if it is retired
    public record Target(String cluster, DatasetIdentity identity, Optional<String> path, Optional<String> objects) {
        private static Optional<Target> of(String cluster, String fileSystem, MintedIdentity minted) {
            return DatasetIdentity.parse(fileSystem, minted.userId())
                    .map(identity -> new Target(cluster, identity, minted.path(), minted.objects()));
        }

        private boolean isOf(VolumeId.DatasetVolume dataset) {
            return cluster.equals(dataset.cluster())
                    && identity.fileSystem().equals(dataset.fileSystem())
                    && identity.dataset().equals(CephNames.dataset(dataset));
        }
    }

    /// The result for one identity.
    ///
    /// @param ended the evicted sessions
    /// @param elsewhere sessions of a shared key at other nodes: they continue until their tickets expire
    /// @param volumes volumes of claims whose Secret was given another key, or none if nodes ask for theirs
    /// @param unfinished work left although the key is revoked; a retry does it
    public record Revoked(
            Target target,
            List<ClientSession> ended,
            List<ClientSession> elsewhere,
            List<VolumeId.DatasetVolume> volumes,
            List<String> unfinished) {
        public Revoked {
            ended = List.copyOf(ended);
            elsewhere = List.copyOf(elsewhere);
            volumes = List.copyOf(volumes);
            unfinished = List.copyOf(unfinished);
        }
    }

    /// Returns all identities of a dataset, except those of other Kubernetes clusters: 1 mon command.
    ///
    /// @param dataset without a claim
    /// @throws DriverException.NotFound (NOT_FOUND) if it has none
    public List<Target> of(VolumeId.DatasetVolume dataset) {
        List<Target> found = ofThisCluster(dataset);
        if (found.isEmpty()) {
            throw new DriverException.NotFound("dataset " + dataset + " has no key");
        }
        return found;
    }

    private List<Target> ofThisCluster(VolumeId.DatasetVolume dataset) {
        return minted(dataset.cluster(), dataset.fileSystem(), CephNames.dataset(dataset)).stream()
                .filter(target -> target.isOf(dataset) && keys.identities().mayBeOwn(target.identity()))
                .toList();
    }

    /// Returns those identities whose keys the Secrets of claims may have; none if nodes request their own. 1 mon
    /// command.
    public List<Target> ofClaims(VolumeId.DatasetVolume dataset) {
        return ofThisCluster(dataset).stream()
                .filter(target -> target.identity().node().isEmpty())
                .toList();
    }

    /// Returns the identities that a node may know: all that were minted for it, in use or not, and those with a
    /// session there. If such a session uses another node's identity, all identities of that name are included: it
    /// may be the same node. Identities that an interrupted run retired are included too. Another Kubernetes
    /// cluster's identity is included only if it is a node's own and has a session there.
    ///
    /// @param name of the node, as the cluster knows it; empty if only `where` identifies it
    public List<Target> at(String cluster, String fileSystem, Optional<String> name, Predicate<ClientSession> where) {
        List<Target> minted = minted(cluster, fileSystem, "");
        Set<String> used = sessions.all(cluster, fileSystem).stream()
                .filter(where)
                .map(ClientSession::userId)
                .collect(Collectors.toSet());
        Set<String> names = minted.stream()
                .filter(target -> used.contains(target.identity().userId()))
                .flatMap(target -> target.identity().node().stream())
                .map(DatasetIdentity.AtNode::name)
                .collect(Collectors.toSet());
        name.map(DatasetIdentity::nameOf).ifPresent(names::add);
        return minted.stream()
                .filter(target -> {
                    Optional<DatasetIdentity.AtNode> node = target.identity().node();
                    boolean isUsed = used.contains(target.identity().userId());
                    boolean isNamed =
                            node.filter(at -> names.contains(at.name())).isPresent();
                    // only the other cluster can give its claims another key in place of a shared one
                    return keys.identities().mayBeOwn(target.identity())
                            ? isUsed || isNamed || target.objects().isEmpty()
                            : isUsed && node.isPresent();
                })
                .toList();
    }

    private List<Target> minted(String cluster, String fileSystem, String dataset) {
        return identities.minted(cluster, DatasetIdentity.allOf(fileSystem, dataset)).stream()
                .flatMap(minted -> Target.of(cluster, fileSystem, minted).stream())
                .toList();
    }

    /// Returns the identities of a file system that have sessions now, each with its sessions.
    ///
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the driver's own identity may not list sessions
    public Map<Target, List<ClientSession>> inUse(String cluster, String fileSystem, Collection<Target> targets) {
        List<ClientSession> open = sessions.all(cluster, fileSystem);
        Map<Target, List<ClientSession>> used = new LinkedHashMap<>();
        targets.stream()
                .filter(target -> !sessionsOf(target, open).isEmpty())
                .forEach(target -> used.put(target, sessionsOf(target, open)));
        return used;
    }

    /// Revokes identities of one file system and evicts their sessions. For a shared identity, only sessions that
    /// match `where` are evicted.
    ///
    /// @throws DriverException if nothing was done: [DriverException.AccessDenied] (PERMISSION_DENIED) if the
    ///     driver's own identity may not list sessions
    public List<Revoked> revoke(
            String cluster, String fileSystem, Collection<Target> targets, Predicate<ClientSession> where) {
        // fails before any change if sessions cannot be listed
        List<ClientSession> open = sessions.all(cluster, fileSystem);
        Map<String, Target> byId = new LinkedHashMap<>();
        targets.forEach(target -> byId.put(target.identity().userId(), target));
        byId.keySet().forEach(userId -> identities.retire(cluster, userId));
        Predicate<ClientSession> toEnd = session -> Optional.ofNullable(byId.get(session.userId()))
                .filter(target -> target.identity().node().isPresent() || where.test(session))
                .isPresent();
        Optional<String> stillOpen = Optional.empty();
        List<ClientSession> ended = List.of();
        try {
            SessionEviction evicted = SessionEviction.of(sessions, cluster, fileSystem, toEnd, patience);
            ended = evicted.ended();
            stillOpen = evicted.leftInWords();
        } catch (DriverException notEnded) {
            stillOpen = Optional.of("sessions may remain: " + notEnded.getMessage() + "; run this again");
        }
        List<Revoked> revoked = new ArrayList<>();
        for (Target target : byId.values()) {
            revoked.add(finish(
                    target,
                    sessionsOf(target, ended),
                    sessionsOf(target, open).stream().filter(toEnd.negate()).toList(),
                    stillOpen));
        }
        return revoked;
    }

    /// Removes a node's identity where sessions cannot be evicted: they continue until their tickets expire. Shared
    /// identities stay. Idempotent.
    void removeOfNode(Target target) {
        if (target.identity().node().isPresent()) {
            identities.remove(target.cluster(), target.identity().userId());
        }
    }

    private static List<ClientSession> sessionsOf(Target target, List<ClientSession> all) {
        return all.stream()
                .filter(session -> session.userId().equals(target.identity().userId()))
                .distinct()
                .toList();
    }

    /// Replaces or removes one retired identity. It stays while its sessions may continue, so that a retry finds
    /// it.
    private Revoked finish(
            Target target, List<ClientSession> ended, List<ClientSession> elsewhere, Optional<String> stillOpen) {
        List<String> unfinished = new ArrayList<>(stillOpen.stream().toList());
        List<VolumeId.DatasetVolume> volumes = List.of();
        try {
            if (target.identity().node().isEmpty()) {
                volumes = replaceSharedKey(target);
            }
            boolean isReplaced = !volumes.isEmpty()
                    && keys.identities().isOwn(target.identity())
                    && keys.store().shown(true).stream().anyMatch(target::isOf);
            if (!isReplaced && stillOpen.isEmpty()) {
                identities.remove(target.cluster(), target.identity().userId());
            }
        } catch (DriverException notNow) {
            unfinished.add("the key is worthless, but volumes of claims may not have a new one: " + notNow.getMessage()
                    + "; run this again");
        }
        return new Revoked(target, ended, elsewhere, volumes, unfinished);
    }

    /// Replaces the key of all volumes of claims that have a copy; removes it instead if nodes request their own.
    private List<VolumeId.DatasetVolume> replaceSharedKey(Target target) {
        DatasetKeyStore store = keys.store();
        List<VolumeId.DatasetVolume> volumes =
                store.shown(true).stream().filter(target::isOf).toList();
        volumes.stream().findFirst().ifPresent(one -> {
            Optional<VolumeKey> another = store.nodesAsk()
                    ? Optional.empty()
                    : Optional.of(keys.identities().mint(one.withoutClaim()));
            volumes.forEach(volume -> store.replace(volume, another));
        });
        return volumes;
    }
}
