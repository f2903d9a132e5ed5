package dev.siphon.controller.seal;

import dev.siphon.controller.key.VolumeKey;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;

/// A job that is part of making a sealed dataset from a snapshot.
public sealed interface SealOrder permits PackOrder, CheckOrder {
    /// The name of the process, the same for each try.
    String name();

    /// The directory of the image.
    Mounted target();

    /// The key of the target.
    VolumeKey key();

    /// A volume, and the volume context for nodes.
    record Mounted(VolumeId id, VolumeContext context) {}
}
