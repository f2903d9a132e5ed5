package dev.siphon.cli;

import dev.siphon.csi.report.Table;
import java.io.PrintWriter;
import siphon.node.v1.Replica;

/// Prints the progress of a warmup: one changing line on a terminal, else one line per update.
final class WarmupProgressLines {
    private static final String ERASE_TO_END = "\u001b[K";

    private final PrintWriter out;
    private final boolean terminal;
    private boolean open;

    WarmupProgressLines(PrintWriter out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
    }

    void show(Replica replica) {
        String line = ReplicaTable.beginning(replica) + " " + words(replica);
        if (terminal) {
            out.print("\r" + line + ERASE_TO_END);
            open = true;
        } else {
            out.println(line);
        }
        out.flush();
    }

    private static String words(Replica replica) {
        String size = Table.shown(new Table.Cell.Bytes(replica.getBytes()));
        return switch (replica.getState()) {
            case LOCAL -> "is complete: " + size + " in " + replica.getCacheDirectory();
            case FILLING -> replica.getPercent() + "% of " + size + " in " + replica.getCacheDirectory();
            case QUEUED -> replica.getProblem();
            case REMOTE, STATE_UNSPECIFIED, UNRECOGNIZED -> "waits for its turn";
        };
    }

    /// Ends the changing line and keeps its last content.
    void end() {
        if (open) {
            out.println();
            out.flush();
            open = false;
        }
    }
}
