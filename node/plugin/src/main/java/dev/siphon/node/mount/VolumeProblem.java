package dev.siphon.node.mount;

/// A problem of a volume, seen from this node.
///
/// @param severity how bad it is
/// @param reason in CamelCase, for programs
/// @param message for people
public record VolumeProblem(Severity severity, String reason, String message) {
    /// CSI v1.13, `VolumeHealthErrorType`.
    public enum Severity {
        /// usable, but degraded
        DEGRADED,
        /// not usable from this node
        INACCESSIBLE
    }

    static VolumeProblem inaccessible(String reason, String message) {
        return new VolumeProblem(Severity.INACCESSIBLE, reason, message);
    }

    /// Returns the problem of a dataset whose replica cannot be made or was corrupt, so that it is read from
    /// CephFS.
    static VolumeProblem unreplicated(String why) {
        return new VolumeProblem(Severity.DEGRADED, "ReplicaFailed", "the dataset's replica on this node: " + why);
    }
}
