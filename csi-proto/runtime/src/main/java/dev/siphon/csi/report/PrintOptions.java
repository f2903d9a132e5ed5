package dev.siphon.csi.report;

import java.io.PrintWriter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/// The output format of a command, for picocli's `@Mixin`.
public final class PrintOptions {
    @Option(names = "--json", description = "Print JSON, for scripts.")
    private boolean json;

    /// Checks whether to print JSON.
    public boolean printsJson() {
        return json;
    }

    /// Prints the table as text or as JSON.
    public void print(CommandSpec command, Table table) {
        PrintWriter out = command.commandLine().getOut();
        (json ? table.json() : table.text()).forEach(out::println);
        out.flush();
    }
}
