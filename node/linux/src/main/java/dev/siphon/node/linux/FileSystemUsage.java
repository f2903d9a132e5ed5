package dev.siphon.node.linux;

/// The result of statfs(2).
///
/// @param totalBytes the size
/// @param availableBytes what an unprivileged process can still write
/// @param usedBytes what is used
public record FileSystemUsage(long totalBytes, long availableBytes, long usedBytes) {}
