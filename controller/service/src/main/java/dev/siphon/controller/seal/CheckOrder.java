package dev.siphon.controller.seal;

import dev.siphon.controller.key.VolumeKey;
import dev.siphon.csi.dataset.Digest;

/// An order to read an image back and compare it with its manifest.
///
/// @param name of the reading process, the same for each try
/// @param digest of the manifest
/// @param target where the image is
/// @param key of the target, read-only
/// @param earlier whether an earlier version sealed the image, so that it is in use already and nobody waits for
///     this check
public record CheckOrder(String name, Digest digest, Mounted target, VolumeKey key, boolean earlier)
        implements SealOrder {}
