package dev.siphon.node.mount;

import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Which keys have opened the images of datasets that are mounted. One mount serves all volumes of a dataset, so Ceph
/// is asked about the key that mounts and about no other: whoever comes later with another key has to show that it
/// opens the image too. Known by digests; a restart begins with none.
final class ImageKeys {
    private final Map<String, Set<Digest>> opened = new ConcurrentHashMap<>();

    /// Whether the key has opened the image since it was mounted.
    boolean have(VolumeId.Dataset volume, CephCredentials credentials) {
        return opened.getOrDefault(volume.digest(), Set.of()).contains(digest(credentials));
    }

    /// The key has opened the image.
    void add(VolumeId.Dataset volume, CephCredentials credentials) {
        opened.computeIfAbsent(volume.digest(), _ -> ConcurrentHashMap.newKeySet())
                .add(digest(credentials));
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
