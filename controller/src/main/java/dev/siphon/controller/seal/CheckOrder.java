package dev.siphon.controller.seal;

import dev.siphon.controller.key.VolumeKey;
import dev.siphon.csi.dataset.Digest;

/// An image that is to be read back, and compared with its manifest.
///
/// @param name what the process is called that reads, the same for each try
/// @param digest of the manifest
/// @param target where the image is
/// @param key of the target, which reads only
/// @param earlier whether the image is in use since an earlier version sealed it, so that nobody waits for this
public record CheckOrder(String name, Digest digest, Mounted target, VolumeKey key, boolean earlier)
        implements SealOrder {}
