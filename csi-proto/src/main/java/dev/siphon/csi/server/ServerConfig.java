package dev.siphon.csi.server;

import java.time.Duration;

/// How the shell of a process is set up; [ServerOptions] makes one from flags.
///
/// @param driverName the name under which the CO knows the driver
/// @param endpoint where CSI is served
/// @param ops where operators' HTTP is served
/// @param callTime the time for an RPC whose caller set no deadline
/// @param drain how long RPCs under way may take at a shutdown
/// @param shutdown how long the whole shutdown may take before the process ends itself
public record ServerConfig(
        DriverName driverName,
        UnixEndpoint endpoint,
        OpsAddress ops,
        Duration callTime,
        Duration drain,
        Duration shutdown) {
    public ServerConfig {
        if (!callTime.isPositive() || drain.isNegative() || shutdown.compareTo(drain) <= 0) {
            throw new IllegalArgumentException("times must be positive, and the shutdown longer than the drain: "
                    + callTime + ", " + drain + ", " + shutdown);
        }
    }

    public Deadlines deadlines() {
        return new Deadlines(callTime);
    }
}
