package dev.siphon.node.replica;

import dev.siphon.node.linux.LoopStatus;
import java.nio.file.Path;

/// A dataset's tree and the device under it, as the kernel told them.
///
/// @param tree where the tree is mounted
/// @param fresh whether the device was just made, over the image
record MountResult(Path tree, LoopStatus device, boolean fresh) {}
