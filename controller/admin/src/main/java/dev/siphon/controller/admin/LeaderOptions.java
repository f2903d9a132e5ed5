package dev.siphon.controller.admin;

import dev.siphon.controller.admin.rpc.ControllerClient;
import java.time.Duration;
import java.util.Objects;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/// The endpoint of the running controller, for picocli's `@Mixin`: for commands that create, change or delete
/// volumes.
public final class LeaderOptions {
    @Option(
            names = "--endpoint",
            paramLabel = "URI",
            defaultValue = "${env:CSI_ENDPOINT:-unix:///csi/csi.sock}",
            description = "The controller's Unix socket (env CSI_ENDPOINT; default: unix:///csi/csi.sock).")
    private String endpoint = "";

    @Option(
            names = "--patience",
            paramLabel = "SECONDS",
            defaultValue = "3600",
            description = "Seconds to wait until the contents of one volume are copied (default: 3600).")
    private int patienceSeconds;

    /// Returns a client of the controller, which connects at the first call.
    ///
    /// @throws ParameterException if the endpoint is invalid
    ControllerClient open(CommandSpec command) {
        try {
            return ControllerClient.at(endpoint, Duration.ofSeconds(patienceSeconds));
        } catch (IllegalArgumentException wrong) {
            throw new ParameterException(
                    command.commandLine(), "--endpoint: " + Objects.requireNonNull(wrong.getMessage()), wrong);
        }
    }
}
