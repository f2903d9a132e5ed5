package dev.siphon.csi.server;

import java.time.Duration;
import org.slf4j.event.Level;
import picocli.CommandLine.Option;

/// The flags of both processes, for picocli's `@Mixin`. A flag overrides its environment variable, which overrides
/// the default.
public final class ServerOptions {
    @Option(
            names = "--driver-name",
            paramLabel = "NAME",
            defaultValue = "${env:CSI_DRIVER_NAME:-cephfs.siphon.dev}",
            description = "The CSI driver's name (default: cephfs.siphon.dev).")
    private String driverName = "";

    @Option(
            names = "--endpoint",
            paramLabel = "URI",
            defaultValue = "${env:CSI_ENDPOINT:-unix:///csi/csi.sock}",
            description = "The Unix socket to serve CSI on (default: unix:///csi/csi.sock).")
    private String endpoint = "";

    @Option(
            names = "--ops-host",
            paramLabel = "HOST",
            defaultValue = "${env:SIPHON_OPS_HOST:-127.0.0.1}",
            description = "The address for /healthz, /readyz and /metrics (default: 127.0.0.1).")
    private String opsHost = "";

    @Option(
            names = "--ops-port",
            paramLabel = "PORT",
            defaultValue = "${env:SIPHON_OPS_PORT:-0}",
            description = "Its TCP port; 0 takes a free one and logs it (default: 0).")
    private int opsPort;

    @Option(
            names = "--log-level",
            paramLabel = "LEVEL",
            defaultValue = "${env:SIPHON_LOG_LEVEL:-INFO}",
            description = "ERROR, WARN, INFO, DEBUG or TRACE (default: INFO); DEBUG also logs request bodies, without"
                    + " secrets.")
    private Level logLevel = Level.INFO;

    @Option(
            names = "--rpc-timeout",
            paramLabel = "SECONDS",
            defaultValue = "${env:SIPHON_RPC_TIMEOUT:-60}",
            description = "Deadline in seconds for an RPC whose caller sets none (default: 60).")
    private int rpcTimeoutSeconds;

    @Option(
            names = "--drain-timeout",
            paramLabel = "SECONDS",
            defaultValue = "${env:SIPHON_DRAIN_TIMEOUT:-15}",
            description = "Seconds that running RPCs may still take at shutdown (default: 15).")
    private int drainTimeoutSeconds;

    @Option(
            names = "--shutdown-timeout",
            paramLabel = "SECONDS",
            defaultValue = "${env:SIPHON_SHUTDOWN_TIMEOUT:-25}",
            description = "Seconds that the shutdown may take before the process exits anyway (default: 25, which is"
                    + " below the 30 of Kubernetes).")
    private int shutdownTimeoutSeconds;

    /// Returns the log level.
    public Level logLevel() {
        return logLevel;
    }

    /// Parses the flags.
    public ConfigProblems.ParsedValue<ServerConfig> read(ConfigProblems problems) {
        var name = problems.read("--driver-name", () -> new DriverName(driverName));
        var socket = problems.read("--endpoint", () -> UnixEndpoint.parse(endpoint));
        var ops = problems.read("--ops-port", () -> new OpsAddress(opsHost, opsPort));
        var call = problems.read("--rpc-timeout", () -> seconds(rpcTimeoutSeconds));
        var drain = problems.read("--drain-timeout", () -> seconds(drainTimeoutSeconds));
        var shutdown = problems.read("--shutdown-timeout", () -> seconds(shutdownTimeoutSeconds));
        if (shutdownTimeoutSeconds <= drainTimeoutSeconds) {
            problems.add("--shutdown-timeout", "must be longer than --drain-timeout");
        }
        return problems.readIfNone(
                () -> new ServerConfig(name.get(), socket.get(), ops.get(), call.get(), drain.get(), shutdown.get()));
    }

    private static Duration seconds(int seconds) {
        if (seconds < 1) {
            throw new IllegalArgumentException("must be at least 1 second, not " + seconds);
        }
        return Duration.ofSeconds(seconds);
    }
}
