package dev.siphon.node.replica;

import java.nio.file.Path;

/// A dataset that can be read on this node.
///
/// @param tree the mounted tree, read-only, `nosuid` and `nodev`, to bind volumes from; it stays while what is
///     behind it changes
/// @param place what is behind it
/// @param directIo whether the device reads past the page cache of the file system behind it; if not, every page is
///     in memory twice and reads are several times slower
public record ImageMount(ImageMountKey key, Path tree, ReadLocation place, boolean directIo) {}
