/// NVIDIA's management library, where it is, for what only it knows: the parts of GPUs that are devices of their
/// own (MIG). A node without it, or with one that fails or hangs, knows of no such parts.
@NullMarked
package dev.siphon.node.topology.nvml;

import org.jspecify.annotations.NullMarked;
