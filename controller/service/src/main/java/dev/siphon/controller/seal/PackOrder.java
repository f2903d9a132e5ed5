package dev.siphon.controller.seal;

import dev.siphon.controller.key.VolumeKey;
import dev.siphon.controller.volume.SnapshotClass.Modes;

/// An order to pack a snapshot into an image.
///
/// @param name of the packer, the same for each try
/// @param folder the directory of the source that is packed; "" for all of it
/// @param source the read-only volume to pack; nodes look for its key under that of a volume called `NAME-source`
/// @param target where the image goes
/// @param key of the target
public record PackOrder(String name, Modes modes, String folder, Mounted source, Mounted target, VolumeKey key)
        implements SealOrder {}
