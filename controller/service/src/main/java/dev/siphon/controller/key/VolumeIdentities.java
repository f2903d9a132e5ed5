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

/// Lists the generations of volume identities, and moves a volume to its next one, for rotation and revocation.
/// The cluster's identities are listed once and cached, so use this only in short-lived processes.
final class VolumeIdentities {
    private final Identities identities;
    private final KeyStore store;
    private final Predicate<VolumeId.Provisioned> exists;

    /// By cluster, then by user id.
    private final Map<String, SortedMap<String, MintedIdentity>> known = new HashMap<>();

    /// @param exists whether the volume still exists
    VolumeIdentities(Identities identities, KeyStore store, Predicate<VolumeId.Provisioned> exists) {
        this.identities = identities;
        this.store = store;
        this.exists = exists;
    }

    /// Returns the volume's identities in the cluster, the latest last.
    List<VolumeIdentity> minted(VolumeId.Provisioned volume) {
        return startingWith(volume.cluster(), VolumeIdentity.first(volume).userId()).stream()
                .flatMap(minted -> VolumeIdentity.of(volume, minted.userId()).stream())
                .sorted(Comparator.comparingInt(VolumeIdentity::generation))
                .toList();
    }

    /// Returns all volume identities of a cluster with this prefix.
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

    /// Returns the identity whose key nodes get.
    Optional<VolumeIdentity> current(VolumeId.Provisioned volume) {
        return store.find(volume).flatMap(key -> VolumeIdentity.of(volume, key.userId()));
    }

    /// Returns the caps of an identity, if the cluster has it.
    Optional<Map<String, String>> caps(VolumeIdentity identity) {
        return Optional.ofNullable(in(identity.volume().cluster()).get(identity.userId()))
                .map(MintedIdentity::caps);
    }

    /// Returns the last generation in cluster or store; 0 if there is none.
    int latest(VolumeId.Provisioned volume) {
        List<VolumeIdentity> minted = minted(volume);
        return Math.max(
                minted.isEmpty() ? 0 : minted.getLast().generation(),
                current(volume).map(VolumeIdentity::generation).orElse(0));
    }

    /// Drops the cached identities of a cluster.
    void lookAgain(String cluster) {
        known.remove(cluster);
    }

    /// Mints the next identity with the caps of `like`, and stores its key for nodes. Mints nothing if it is
    /// unknown whether the volume exists.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if `like` is gone, or the volume was deleted before or during
    ///     the call; then nothing is left
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

    /// An identity whose key is not stored yet.
    record Fresh(VolumeIdentity identity, VolumeKey key) {}

    /// Mints an identity under an unused name. Calls only the mons.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if another process has just minted it
    Fresh mint(VolumeIdentity identity, Map<String, String> caps) {
        String cluster = identity.volume().cluster();
        VolumeKey key = identities.mintNew(cluster, identity.userId(), caps);
        in(cluster).put(identity.userId(), new MintedIdentity(identity.userId(), caps));
        return new Fresh(identity, key);
    }

    /// Like [#mint], if no earlier identity is left to copy the caps from.
    Fresh mint(VolumeIdentity identity, VolumeCaps volumeCaps) {
        String cluster = identity.volume().cluster();
        VolumeKey key = identities.mintNew(cluster, identity.userId(), volumeCaps);
        lookAgain(cluster);
        return new Fresh(identity, key);
    }

    /// Stores the key, so that nodes use it from now on.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the volume was deleted; then nothing is left
    VolumeIdentity give(Fresh fresh) {
        VolumeId.Provisioned volume = fresh.identity().volume();
        store.put(volume, fresh.key());
        if (!exists.test(volume)) {
            // the controller has removed only the keys known before this one was stored
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
