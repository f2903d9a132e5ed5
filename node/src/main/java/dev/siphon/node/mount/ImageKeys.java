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

/// Which keys have opened the images of datasets that are mounted. One mount serves all volumes of a dataset, so
/// Ceph is asked about the key that mounts and about no other: whoever comes later with another key has to show
/// that it opens the image too, and again a while later, as keys are taken away. Known by digests; a restart
/// begins with none.
final class ImageKeys {
    /// How long a key that is taken away may still stage a dataset that its node has mounted. Pods that start
    /// together ask Ceph once.
    static final Duration AGE = Duration.ofMinutes(2);

    private final LongSupplier nanoTime;

    /// When each key of a dataset has shown itself.
    private final Map<String, Map<Digest, Long>> opened = new ConcurrentHashMap<>();

    ImageKeys(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /// Whether the key has opened the image lately, while that was mounted.
    boolean have(VolumeId.DatasetVolume volume, CephCredentials credentials) {
        return Optional.ofNullable(
                        opened.getOrDefault(volume.digest(), Map.of()).get(digest(credentials)))
                .filter(shown -> nanoTime.getAsLong() - shown < AGE.toNanos())
                .isPresent();
    }

    /// The key has opened the image now.
    void add(VolumeId.DatasetVolume volume, CephCredentials credentials) {
        Map<Digest, Long> keys = opened.computeIfAbsent(volume.digest(), _ -> new ConcurrentHashMap<>());
        keys.values().removeIf(shown -> nanoTime.getAsLong() - shown >= AGE.toNanos());
        keys.put(digest(credentials), nanoTime.getAsLong());
    }

    /// The image is mounted no more.
    ///
    /// @param beginning of the dataset's digest
    void forget(String beginning) {
        opened.remove(beginning);
    }

    private static Digest digest(CephCredentials credentials) {
        String text = credentials.userId() + "\0" + credentials.key().reveal();
        return Digest.of(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }
}
