package dev.siphon.node.replica;

import dev.siphon.node.linux.LoopStatus;
import java.nio.file.Path;

/// A dataset's tree and the device under it, as the kernel reports them.
///
/// @param tree the mount point of the tree
/// @param fresh whether the device was just created, over the image
record MountResult(Path tree, LoopStatus device, boolean fresh) {}
