package dev.siphon.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `siphon dataset`: manages datasets from outside Kubernetes, and in the jobs inside it.
@Command(name = "dataset", description = "Makes datasets: one immutable image each, with a digest for each chunk.")
public final class DatasetCommand implements Runnable {
    @Spec
    private CommandSpec command = CommandSpec.create();

    @Override
    public void run() {
        throw new ParameterException(command.commandLine(), "say what to do: seal, import, fetch, pack or check");
    }
}
