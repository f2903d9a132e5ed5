/// Queries NVIDIA's management library (NVML), if installed, for the MIG devices, which only it knows. Without it,
/// or if it fails or hangs, the node knows no MIG devices.
@NullMarked
package dev.siphon.node.topology.nvml;

import org.jspecify.annotations.NullMarked;
