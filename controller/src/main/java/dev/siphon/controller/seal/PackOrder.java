package dev.siphon.controller.seal;

import dev.siphon.controller.key.VolumeKey;
import dev.siphon.controller.volume.SnapshotClass.Modes;

/// What a packer is to do.
///
/// @param name what it is called, the same for each try
/// @param source which it may only read; its key is where nodes look for those of a volume called `NAME-source`
/// @param target where its image goes
/// @param key of the target
public record PackOrder(String name, Modes modes, Mounted source, Mounted target, VolumeKey key) implements SealOrder {}
