/// The locations of the node's GPUs and disks, and the distances between them, in the terms of
/// `nvidia-smi topo -m`. All is read from sysfs and proc.
///
/// Missing information causes no failure: the distance is then [Distance#UNKNOWN], which prefers no directory. In
/// a VM that shows neither PCIe nor NUMA, all distances are equal. docs/explanation/gpu-placement.md describes how
/// distances are determined.
@NullMarked
package dev.siphon.node.topology;

import org.jspecify.annotations.NullMarked;
