package dev.siphon.csi.report;

import java.io.PrintWriter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/// For whom a command prints, for picocli's `@Mixin`.
public final class PrintOptions {
    @Option(names = "--json", description = "Print JSON, for scripts.")
    private boolean json;

    /// Whether stdout is for JSON.
    public boolean printsJson() {
        return json;
    }

    /// Prints what was found, as a table or as JSON.
    public void print(CommandSpec command, Table table) {
        PrintWriter out = command.commandLine().getOut();
        (json ? table.json() : table.text()).forEach(out::println);
        out.flush();
    }
}
