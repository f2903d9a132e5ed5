package dev.siphon.node.fuse;

import dev.siphon.node.linux.ChildProcess;
import java.time.Duration;

/// Starts FUSE processes, and waits for their ends. A process outlives its caller, and exits after its last
/// unmount.
public interface FuseProcesses {
    /// Starts a program. Returns when its mount exists, when it exits, or when it was killed at the limit. Blocks.
    /// Starts nothing if the mount exists already.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if the supervisor does not run
    /// @throws dev.siphon.csi.DriverException.OperationPending (ABORTED) if another start at the same mount point
    ///     is running, or something else is mounted there
    ChildProcess.StartOutcome start(FuseStart start, Duration limit);

    /// Waits until the process of a mount has ended. Blocks.
    ///
    /// @param tag the mount's own
    /// @return false if it still runs at the limit
    boolean awaitEnd(FuseProgram program, String tag, Duration limit);
}
