package dev.siphon.node.mount;

import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/// Remembers which keys have opened the images of mounted datasets. One mount serves all volumes of a dataset, so
/// Ceph checks only the key that mounted it. Every other key must prove that it opens the image, and again after
/// [#AGE], since keys can be revoked. Stores digests of keys, in memory only.
final class ImageKeys {
    /// How long a revoked key can still stage a dataset that is mounted on its node. Pods that start together cause
    /// one check by Ceph.
    static final Duration AGE = Duration.ofMinutes(2);

    private final LongSupplier nanoTime;

    /// For each dataset, when each key last opened the image, in nanoseconds.
    private final Map<String, Map<Digest, Long>> opened = new ConcurrentHashMap<>();

    ImageKeys(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /// Whether the key has opened the image within [#AGE] while it was mounted.
    boolean have(VolumeId.DatasetVolume volume, CephCredentials credentials) {
        return Optional.ofNullable(
                        opened.getOrDefault(volume.digest(), Map.of()).get(digest(credentials)))
                .filter(shown -> nanoTime.getAsLong() - shown < AGE.toNanos())
                .isPresent();
    }

    /// Records that the key has opened the image now.
    void add(VolumeId.DatasetVolume volume, CephCredentials credentials) {
        Map<Digest, Long> keys = opened.computeIfAbsent(volume.digest(), _ -> new ConcurrentHashMap<>());
        keys.values().removeIf(shown -> nanoTime.getAsLong() - shown >= AGE.toNanos());
        keys.put(digest(credentials), nanoTime.getAsLong());
    }

    /// Forgets the keys of an image that is no longer mounted.
    ///
    /// @param beginning the beginning of the dataset's digest
    void forget(String beginning) {
        opened.remove(beginning);
    }

    /// Returns a digest of an identity and its key. Keys are random, so it tells nothing about them.
    static Digest digest(CephCredentials credentials) {
        String text = credentials.userId() + "\0" + credentials.key().reveal();
        return Digest.of(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }
}
