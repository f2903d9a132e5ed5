package dev.siphon.csi.check;

import java.time.Duration;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/// The time limit of `siphon check`, for picocli's `@Mixin`.
public final class CheckOptions {
    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "5",
            description = "How long to wait for an answer to each question (default: 5).")
    private int seconds;

    /// Returns an empty checklist.
    ///
    /// @throws ParameterException if the time limit is less than 1 s
    public Checklist checklist(CommandSpec command) {
        if (seconds < 1) {
            throw new ParameterException(command.commandLine(), "--timeout: must be at least 1 second");
        }
        return new Checklist(Duration.ofSeconds(seconds));
    }
}
