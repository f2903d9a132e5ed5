package dev.siphon.node.replica;

import java.nio.file.Path;

/// An attached dataset: one of its trees, and where that is read from.
///
/// @param tree the mount point of the tree (read-only, `nosuid`, `nodev`), from which volumes are bind-mounted; it
///     stays when the backing file changes
/// @param place where the tree is read from
/// @param directIo whether the device bypasses the page cache of the file system behind it; otherwise every page is
///     in memory twice, and reads are several times slower
public record ImageMount(ImageMountKey key, Path tree, ReadLocation place, boolean directIo) {}
