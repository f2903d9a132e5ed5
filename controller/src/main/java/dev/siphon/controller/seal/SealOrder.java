package dev.siphon.controller.seal;

import dev.siphon.controller.key.VolumeKey;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;

/// What a process is to do by which a snapshot becomes a sealed dataset.
public sealed interface SealOrder permits PackOrder, CheckOrder {
    /// What it is called, the same for each try.
    String name();

    /// The directory of the image.
    Mounted target();

    /// The key of the target.
    VolumeKey key();

    /// A volume, with what nodes are told of it.
    record Mounted(VolumeId id, VolumeContext context) {}
}
