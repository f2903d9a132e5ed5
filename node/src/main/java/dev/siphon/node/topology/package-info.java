/// Where the node's GPUs and disks are in the machine, and how far apart: read from sysfs and proc, in the terms
/// of `nvidia-smi topo -m`.
///
/// Nothing here fails for want of information. What a machine does not tell is [Distance#UNKNOWN], which prefers
/// nobody; a VM that shows neither PCIe nor NUMA has all distances equal. docs/gpu.md says how distances are
/// decided.
@NullMarked
package dev.siphon.node.topology;

import org.jspecify.annotations.NullMarked;
