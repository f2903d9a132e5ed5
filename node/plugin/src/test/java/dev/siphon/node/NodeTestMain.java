package dev.siphon.node;

import picocli.CommandLine;

/// Runs the node as the launcher does.
public final class NodeTestMain {
    private NodeTestMain() {}

    public static void main(String[] args) {
        System.exit(new CommandLine(new NodeMain()).execute(args));
    }
}
