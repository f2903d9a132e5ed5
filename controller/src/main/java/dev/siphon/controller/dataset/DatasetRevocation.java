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

/// Makes keys of datasets worthless at once.
///
/// Each step is done for all identities before the next begins. All are retired: the mons refuse their
/// keys, and a node that asks for the dataset meanwhile gets another identity. Their sessions are ended until
/// there is none, after which the MDS refuses what was mounted and the OSDs refuse these clients. Then a
/// node's identity is removed, and volumes of claims get another key. Killed anywhere, a repeat finishes it:
/// the mons say what is retired.
public final class DatasetRevocation {
    private final Identities identities;
    private final ClientSessions sessions;
    private final DatasetVolumes.Keys keys;
    private final Duration patience;

    /// @param patience how long to go on ending sessions that come again
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

    /// What was done for one identity.
    ///
    /// @param ended the sessions that were ended
    /// @param elsewhere sessions of a key that nodes share, at other nodes: they go on until their tickets end
    /// @param volumes of claims that have another key now
    /// @param unfinished what is still to be done, though the key is worthless; a repeat does it
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

    /// All identities of a dataset, but those that are another Kubernetes cluster's: 1 mon command.
    ///
    /// @param dataset for no claim
    /// @throws DriverException.NotFound (NOT_FOUND) if it has none
    public List<Target> of(VolumeId.DatasetVolume dataset) {
        List<Target> found = own(dataset);
        if (found.isEmpty()) {
            throw new DriverException.NotFound("dataset " + dataset + " has no key");
        }
        return found;
    }

    private List<Target> own(VolumeId.DatasetVolume dataset) {
        return minted(dataset.cluster(), dataset.fileSystem(), CephNames.dataset(dataset)).stream()
                .filter(target -> target.isOf(dataset) && keys.identities().mayBeOwn(target.identity()))
                .toList();
    }

    /// Those of them that the Secrets of claims may have keys of: none where nodes ask for their own. 1 mon
    /// command.
    public List<Target> ofClaims(VolumeId.DatasetVolume dataset) {
        return own(dataset).stream()
                .filter(target -> target.identity().node().isEmpty())
                .toList();
    }

    /// The identities that a node may know: all that were minted for it, whether or not it uses them now, and those
    /// that have a session there. If such a session is another node's by its identity, all of that node's come with
    /// it: the node may be called so. What a run retired that was cut off is among them too. Another Kubernetes
    /// cluster's are among them where a session tells that the node knows them.
    ///
    /// @param name the node's, as the cluster knows it; empty if only `where` tells
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
                    // of what another cluster's nodes share, that cluster alone can give its claims another key
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

    /// Those of some identities of a file system by which somebody reads now, each with its sessions.
    ///
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the driver's own identity may not see sessions
    public Map<Target, List<ClientSession>> inUse(String cluster, String fileSystem, Collection<Target> targets) {
        List<ClientSession> open = sessions.all(cluster, fileSystem);
        Map<Target, List<ClientSession>> used = new LinkedHashMap<>();
        targets.stream()
                .filter(target -> !own(target, open).isEmpty())
                .forEach(target -> used.put(target, own(target, open)));
        return used;
    }

    /// Revokes identities of one file system, and ends their sessions. Of one that nodes share only those that
    /// `where` tells are ended.
    ///
    /// @throws DriverException if nothing was done: [DriverException.AccessDenied] (PERMISSION_DENIED) if the
    ///     driver's own identity may not see sessions
    public List<Revoked> revoke(
            String cluster, String fileSystem, Collection<Target> targets, Predicate<ClientSession> where) {
        // fails before anything is changed where sessions could not be ended
        List<ClientSession> open = sessions.all(cluster, fileSystem);
        Map<String, Target> byId = new LinkedHashMap<>();
        targets.forEach(target -> byId.put(target.identity().userId(), target));
        byId.keySet().forEach(userId -> identities.retire(cluster, userId));
        Predicate<ClientSession> doomed = session -> Optional.ofNullable(byId.get(session.userId()))
                .filter(target -> target.identity().node().isPresent() || where.test(session))
                .isPresent();
        Optional<String> goesOn = Optional.empty();
        List<ClientSession> ended = List.of();
        try {
            SessionEviction evicted = SessionEviction.of(sessions, cluster, fileSystem, doomed, patience);
            ended = evicted.ended();
            goesOn = evicted.leftInWords();
        } catch (DriverException notEnded) {
            goesOn = Optional.of("sessions may go on: " + notEnded.getMessage() + "; run this again");
        }
        List<Revoked> revoked = new ArrayList<>();
        for (Target target : byId.values()) {
            revoked.add(finish(
                    target,
                    own(target, ended),
                    own(target, open).stream().filter(doomed.negate()).toList(),
                    goesOn));
        }
        return revoked;
    }

    /// Removes a node's identity, where sessions cannot be ended: they go on until their tickets end.
    /// Those that volumes of claims share stay. Repeating it is safe.
    void removeOfNode(Target target) {
        if (target.identity().node().isPresent()) {
            identities.remove(target.cluster(), target.identity().userId());
        }
    }

    private static List<ClientSession> own(Target target, List<ClientSession> all) {
        return all.stream()
                .filter(session -> session.userId().equals(target.identity().userId()))
                .distinct()
                .toList();
    }

    /// A retired identity stays while sessions of it may go on, so that a repeat finds it.
    private Revoked finish(
            Target target, List<ClientSession> ended, List<ClientSession> elsewhere, Optional<String> goesOn) {
        List<String> unfinished = new ArrayList<>(goesOn.stream().toList());
        List<VolumeId.DatasetVolume> volumes = List.of();
        try {
            if (target.identity().node().isEmpty()) {
                volumes = giveAnother(target);
            }
            boolean isReplaced = !volumes.isEmpty()
                    && keys.identities().isOwn(target.identity())
                    && keys.store().shown(true).stream().anyMatch(target::isOf);
            if (!isReplaced && goesOn.isEmpty()) {
                identities.remove(target.cluster(), target.identity().userId());
            }
        } catch (DriverException notNow) {
            unfinished.add("the key is worthless, but it is not sure that volumes of claims have another: "
                    + notNow.getMessage() + "; run this again");
        }
        return new Revoked(target, ended, elsewhere, volumes, unfinished);
    }

    /// Another key for all volumes of claims that have a copy; none where nodes ask for their own.
    private List<VolumeId.DatasetVolume> giveAnother(Target target) {
        DatasetKeyStore store = keys.store();
        List<VolumeId.DatasetVolume> volumes =
                store.shown(true).stream().filter(target::isOf).toList();
        volumes.stream().findFirst().ifPresent(one -> {
            Optional<VolumeKey> another = store.nodesAsk()
                    ? Optional.empty()
                    : Optional.of(keys.identities().mint(one.forNobody()));
            volumes.forEach(volume -> store.replace(volume, another));
        });
        return volumes;
    }
}
