package dev.siphon.node.fuse;

/// What FUSE processes may have of a node's memory, in bytes.
///
/// @param processBytes each of them, of all that the kernel counts for it
/// @param totalBytes all of them together, as `siphon_fuse_memory_bytes` counts
public record FuseLimits(long processBytes, long totalBytes) {}
