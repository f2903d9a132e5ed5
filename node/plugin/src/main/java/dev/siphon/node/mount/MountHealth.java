package dev.siphon.node.mount;

import dev.siphon.csi.VolumeId;
import dev.siphon.node.linux.FileSystemUsage;

/// The result of a mount's health check.
public sealed interface MountHealth {
    /// It responds.
    ///
    /// @param fileSystem the numbers of statfs(2)
    record Alive(FileSystemUsage fileSystem) implements MountHealth {}

    /// It returns an error: its client has died, or the cluster has evicted it.
    record Dead(String why) implements MountHealth {}

    /// It did not respond in time: its client hangs or waits for the cluster.
    record Hung(String why) implements MountHealth {}

    /// Describes the health, for messages.
    default String describe(VolumeId id) {
        return switch (this) {
            case Alive _ -> "the mount of volume " + id + " answers";
            case Dead dead -> "the mount of volume " + id + " is dead: " + dead.why();
            case Hung hung -> "the mount of volume " + id + " does not answer: " + hung.why();
        };
    }
}
