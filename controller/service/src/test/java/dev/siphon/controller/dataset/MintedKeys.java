package dev.siphon.controller.dataset;

import dev.siphon.controller.key.DatasetKeyStore;
import dev.siphon.controller.key.Identities;
import dev.siphon.controller.key.MintedIdentity;
import dev.siphon.controller.key.VolumeCaps;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Identities of one cluster and keys of dataset volumes, in memory.
public final class MintedKeys implements Identities, DatasetKeyStore {
    public final Set<String> removed = new HashSet<>();
    private final Set<String> there = new TreeSet<>();
    public final Map<VolumeId.DatasetVolume, Optional<VolumeKey>> kept = new HashMap<>();
    public boolean nodesAsk;

    /// The number of requests to remove an identity.
    int asked;

    /// What runs before the cluster fails to reply; null if it replies.
    @Nullable
    Runnable hangs;

    /// What runs after a volume got its key, and before the store has it.
    Runnable whileGiven = () -> {};

    public DatasetVolumes.Keys keys(FileTree files) {
        return new DatasetVolumes.Keys(new DatasetIdentities(files, this, Optional::empty), this);
    }

    @Override
    public VolumeKey mint(String cluster, String userId, VolumeCaps volumeCaps) {
        removed.remove(userId);
        there.add(userId);
        return new VolumeKey(userId, "key");
    }

    @Override
    public Optional<VolumeKey> mintUnlessRetired(String cluster, String userId, VolumeCaps volumeCaps) {
        return Optional.of(mint(cluster, userId, volumeCaps));
    }

    @Override
    public void retire(String cluster, String userId) {
        throw new AssertionError("nothing is revoked here");
    }

    @Override
    public VolumeKey mintNew(String cluster, String userId, Map<String, String> caps) {
        throw new AssertionError("datasets have no such identity");
    }

    @Override
    public VolumeKey mintNew(String cluster, String userId, VolumeCaps volumeCaps) {
        throw new AssertionError("datasets have no such identity");
    }

    @Override
    public void remove(String cluster, String userId) {
        asked++;
        Runnable before = hangs;
        if (before != null) {
            before.run();
            throw new DriverException.BackendUnavailable("no answer");
        }
        removed.add(userId);
        there.remove(userId);
    }

    @Override
    public List<String> startingWith(String cluster, String prefix) {
        return there.stream().filter(userId -> userId.startsWith(prefix)).toList();
    }

    @Override
    public List<MintedIdentity> minted(String cluster, String prefix) {
        return List.of();
    }

    @Override
    public boolean nodesAsk() {
        return nodesAsk;
    }

    @Override
    public void put(VolumeId.DatasetVolume volume, String name, Optional<VolumeKey> key) {
        whileGiven.run();
        kept.put(volume, key);
    }

    @Override
    public List<String> users(VolumeId.DatasetVolume dataset) {
        return kept.keySet().stream()
                .filter(volume -> volume.withoutClaim().equals(dataset))
                .map(volume -> "volume " + volume)
                .toList();
    }

    @Override
    public List<VolumeId.DatasetVolume> shown(boolean withKey) {
        return kept.keySet().stream()
                .filter(volume -> kept.getOrDefault(volume, Optional.empty()).isPresent() == withKey)
                .toList();
    }

    @Override
    public void replace(VolumeId.DatasetVolume volume, Optional<VolumeKey> key) {
        kept.computeIfPresent(volume, (_, _) -> key);
    }

    @Override
    public boolean hasAny(VolumeId.DatasetVolume dataset) {
        return kept.keySet().stream().anyMatch(volume -> volume.withoutClaim().equals(dataset));
    }

    @Override
    public void remove(VolumeId.DatasetVolume volume) {
        kept.remove(volume);
    }
}
