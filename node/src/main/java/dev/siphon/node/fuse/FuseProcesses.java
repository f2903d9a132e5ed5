package dev.siphon.node.fuse;

import dev.siphon.node.linux.ChildProcess;
import java.time.Duration;

/// Starts the processes of FUSE mounts, and waits for their ends. A process outlives whoever asked for it,
/// and ends by itself after its last unmount.
public interface FuseProcesses {
    /// Starts a program, and returns when its mount is there, when it has ended by itself, or when it was
    /// ended at the limit. Blocks. If the mount is there already, nothing is started.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if nobody is there to start
    ///     it
    /// @throws dev.siphon.csi.DriverException.OperationPending (ABORTED) if another start at the same mount
    ///     point is under way, or something else is mounted there
    ChildProcess.StartOutcome start(FuseStart start, Duration limit);

    /// Waits until the process of a mount has ended. Blocks.
    ///
    /// @param tag the mount's own
    /// @return false if it still runs at the limit
    boolean awaitEnd(FuseProgram program, String tag, Duration limit);
}
