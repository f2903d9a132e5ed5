package dev.siphon.node;

import picocli.CommandLine;

/// Runs the supervisor of FUSE processes as the launcher does.
public final class FuseTestMain {
    private FuseTestMain() {}

    public static void main(String[] args) {
        System.exit(new CommandLine(new FuseMain()).execute(args));
    }
}
