package dev.siphon.node;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// Parses a node's flags like its command line.
final class NodeFlags {
    @Command(name = "node")
    private static final class Line {
        @Mixin
        private NodeOptions options = new NodeOptions();
    }

    private NodeFlags() {}

    /// @throws CommandLine.ParameterException that names every problem
    static NodeConfig read(List<String> flags) {
        List<String> all = new ArrayList<>(flags);
        all.add("--node-id=n1");
        Line line = new Line();
        CommandLine parsed = new CommandLine(line);
        var _ = parsed.parseArgs(all.toArray(String[]::new));
        return line.options.read(parsed.getCommandSpec());
    }
}
