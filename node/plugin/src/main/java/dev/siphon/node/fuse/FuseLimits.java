package dev.siphon.node.fuse;

/// The memory limits of FUSE processes on a node, in bytes.
///
/// @param processBytes per process, of everything that the kernel accounts to it
/// @param totalBytes of all together, as `siphon_fuse_memory_bytes` counts
public record FuseLimits(long processBytes, long totalBytes) {}
