package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;

/// Whether a mount answers.
public sealed interface MountHealth {
    /// It answers.
    record Alive(VolumeUsage usage) implements MountHealth {}

    /// It answers with an error: its client has died or was shut out by the cluster.
    record Dead(String why) implements MountHealth {}

    /// It did not answer in time. Its client may hang, or wait for the cluster.
    record Hung(String why) implements MountHealth {}

    /// What it tells, if it answers.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if it does not
    default VolumeUsage orFail(VolumeId id) {
        return switch (this) {
            case Alive alive -> alive.usage();
            case Dead _, Hung _ -> throw new DriverException.BackendUnavailable(describe(id));
        };
    }

    /// In words.
    default String describe(VolumeId id) {
        return switch (this) {
            case Alive _ -> "the mount of volume " + id + " answers";
            case Dead dead -> "the mount of volume " + id + " is dead: " + dead.why();
            case Hung hung -> "the mount of volume " + id + " does not answer: " + hung.why();
        };
    }
}
