package dev.siphon.node.linux;

/// What statfs(2) says of a file system.
///
/// @param totalBytes its size
/// @param availableBytes what an unprivileged process may still write
/// @param usedBytes what is taken
public record FileSystemUsage(long totalBytes, long availableBytes, long usedBytes) {}
