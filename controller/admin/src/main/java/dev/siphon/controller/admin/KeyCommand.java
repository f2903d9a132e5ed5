package dev.siphon.controller.admin;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `siphon key`: manages the keys of volumes.
@Command(
        name = "key",
        description = "Replaces the keys of volumes, or revokes them.",
        subcommands = {KeyRotateCommand.class, KeyRevokeCommand.class})
public final class KeyCommand implements Callable<Integer> {
    @Spec
    private CommandSpec command = CommandSpec.create();

    /// Fails, because a subcommand is required.
    @Override
    public Integer call() {
        throw new ParameterException(command.commandLine(), "a subcommand is missing");
    }
}
