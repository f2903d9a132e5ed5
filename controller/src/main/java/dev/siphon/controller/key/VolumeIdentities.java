package dev.siphon.controller.key;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;

/// The generations of volumes' identities, and the step from one to the next, which is the same when a key is
/// rotated and when it is revoked. The cluster's identities are listed once, so this is for a process that
/// ends soon.
final class VolumeIdentities {
    private final Identities identities;
    private final KeyStore store;
    private final Predicate<VolumeId.Provisioned> exists;

    /// By cluster, and by user id.
    private final Map<String, SortedMap<String, MintedIdentity>> known = new HashMap<>();

    /// @param exists whether there is still such a volume
    VolumeIdentities(Identities identities, KeyStore store, Predicate<VolumeId.Provisioned> exists) {
        this.identities = identities;
        this.store = store;
        this.exists = exists;
    }

    /// Those that the cluster has, the latest last.
    List<VolumeIdentity> minted(VolumeId.Provisioned volume) {
        return startingWith(volume.cluster(), VolumeIdentity.first(volume).userId()).stream()
                .flatMap(minted -> VolumeIdentity.of(volume, minted.userId()).stream())
                .sorted(Comparator.comparingInt(VolumeIdentity::generation))
                .toList();
    }

    /// All identities of a cluster's volumes that begin so.
    List<MintedIdentity> startingWith(String cluster, String prefix) {
        return in(cluster).tailMap(prefix).values().stream()
                .takeWhile(minted -> minted.userId().startsWith(prefix))
                .toList();
    }

    private SortedMap<String, MintedIdentity> in(String cluster) {
        return known.computeIfAbsent(cluster, _ -> {
            SortedMap<String, MintedIdentity> byId = new TreeMap<>();
            identities.minted(cluster, VolumeIdentity.PREFIX).forEach(each -> byId.put(each.userId(), each));
            return byId;
        });
    }

    /// The one whose key nodes get.
    Optional<VolumeIdentity> current(VolumeId.Provisioned volume) {
        return store.find(volume).flatMap(key -> VolumeIdentity.of(volume, key.userId()));
    }

    /// The caps of an identity, if the cluster has it.
    Optional<Map<String, String>> caps(VolumeIdentity identity) {
        return Optional.ofNullable(in(identity.volume().cluster()).get(identity.userId()))
                .map(MintedIdentity::caps);
    }

    /// The last generation that the cluster has or the store names; 0 if there is none.
    int latest(VolumeId.Provisioned volume) {
        List<VolumeIdentity> minted = minted(volume);
        return Math.max(
                minted.isEmpty() ? 0 : minted.getLast().generation(),
                current(volume).map(VolumeIdentity::generation).orElse(0));
    }

    /// Forgets what a cluster had, so that it is asked again.
    void lookAgain(String cluster) {
        known.remove(cluster);
    }

    /// Mints another one with the caps of `like`, and gives nodes its key from now on. Where it is not known
    /// whether there is such a volume, nothing is minted.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the volume was deleted, or is meanwhile; then nothing is
    ///     left
    VolumeIdentity follow(VolumeIdentity like) {
        VolumeId.Provisioned volume = like.volume();
        if (!exists.test(volume)) {
            throw gone(volume);
        }
        Map<String, String> caps = caps(like)
                .orElseThrow(() -> new DriverException.NotFound("identity client." + like.userId() + " is gone"));
        VolumeIdentity next = new VolumeIdentity(volume, latest(volume) + 1);
        return give(mint(next, caps));
    }

    /// An identity whose key nobody gets yet.
    record Fresh(VolumeIdentity identity, VolumeKey key) {}

    /// Mints one that there has not been. Asks nobody but the mons.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if somebody else has just minted it
    Fresh mint(VolumeIdentity identity, Map<String, String> caps) {
        String cluster = identity.volume().cluster();
        VolumeKey key = identities.mintNew(cluster, identity.userId(), caps);
        in(cluster).put(identity.userId(), new MintedIdentity(identity.userId(), caps));
        return new Fresh(identity, key);
    }

    /// As [#mint], where no earlier one is left whose caps it could have.
    Fresh mint(VolumeIdentity identity, VolumeCaps volumeCaps) {
        String cluster = identity.volume().cluster();
        VolumeKey key = identities.mintNew(cluster, identity.userId(), volumeCaps);
        lookAgain(cluster);
        return new Fresh(identity, key);
    }

    /// Gives nodes that key from now on.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the volume was deleted; then nothing is left
    VolumeIdentity give(Fresh fresh) {
        VolumeId.Provisioned volume = fresh.identity().volume();
        store.put(volume, fresh.key());
        if (!exists.test(volume)) {
            // the controller removed the keys it knew of before this one was in the store
            remove(fresh.identity());
            store.remove(volume);
            throw gone(volume);
        }
        return fresh.identity();
    }

    private static DriverException.NotFound gone(VolumeId.Provisioned volume) {
        return new DriverException.NotFound("volume " + volume + " does not exist");
    }

    void remove(VolumeIdentity identity) {
        identities.remove(identity.volume().cluster(), identity.userId());
        in(identity.volume().cluster()).remove(identity.userId());
    }
}
