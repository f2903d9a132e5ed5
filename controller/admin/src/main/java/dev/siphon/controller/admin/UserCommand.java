package dev.siphon.controller.admin;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `siphon user`: manages accounts.
@Command(
        name = "user",
        description = "Lists accounts and what they have, and offboards those whose person leaves.",
        subcommands = {UserListCommand.class, OffboardCommand.class})
public final class UserCommand implements Runnable {
    @Spec
    private CommandSpec command = CommandSpec.create();

    @Override
    public void run() {
        throw new ParameterException(command.commandLine(), "a subcommand is missing");
    }
}
