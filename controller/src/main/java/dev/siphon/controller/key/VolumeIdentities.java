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

/// The generations of volumes' identities, and the step from one to the next, which is the same when a key is rotated
/// and when it is revoked. The cluster's identities are listed once, so this is for a process that ends soon.
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

    /// Mints the one that follows `last`, with the same caps, and gives nodes its key from now on. Where it is not
    /// known whether there is such a volume, nothing is minted.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the volume was deleted, or is meanwhile; then nothing is
    ///     left
    VolumeIdentity follow(VolumeIdentity last) {
        if (!exists.test(last.volume())) {
            throw gone(last.volume());
        }
        return give(mintAfter(last));
    }

    /// An identity whose key nobody gets yet.
    record Fresh(VolumeIdentity identity, VolumeKey key) {}

    /// Mints the one that follows `last`, with the same caps. Asks nobody but the mons.
    Fresh mintAfter(VolumeIdentity last) {
        VolumeIdentity next = last.next();
        String cluster = last.volume().cluster();
        VolumeKey key = identities.mintLike(cluster, next.userId(), last.userId());
        SortedMap<String, MintedIdentity> here = in(cluster);
        Optional.ofNullable(here.get(last.userId()))
                .ifPresent(like -> here.put(next.userId(), new MintedIdentity(next.userId(), like.caps())));
        return new Fresh(next, key);
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
