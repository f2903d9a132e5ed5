package dev.siphon.csi.server;

import java.time.Duration;

/// The configuration of the server in both processes; [ServerOptions] builds it from flags.
///
/// @param driverName the driver's name for the CO
/// @param endpoint the socket for CSI
/// @param ops the address of the HTTP server for operators
/// @param callTime the time for an RPC without a deadline
/// @param drain time limit for running RPCs at shutdown
/// @param shutdown time limit for the whole shutdown, after which the process exits
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
