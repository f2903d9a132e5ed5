package dev.siphon.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `siphon check`: run by an administrator before and after an installation. The two processes own the checks and
/// their flags.
@Command(
        name = "check",
        description = "Checks whether a controller or node has what it needs, and names a remedy for what is missing.")
public final class CheckCommand implements Runnable {
    @Spec
    private CommandSpec command = CommandSpec.create();

    @Override
    public void run() {
        throw new ParameterException(command.commandLine(), "say what to check: controller or node");
    }
}
