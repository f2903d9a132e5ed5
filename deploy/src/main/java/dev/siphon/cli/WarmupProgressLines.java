package dev.siphon.cli;

import dev.siphon.csi.report.Table;
import java.io.PrintWriter;
import siphon.node.v1.Replica;

/// How far a dataset is: one line that changes on a terminal, else a line for each change.
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
            case LOCAL -> "is whole: " + size + " in " + replica.getCacheDirectory();
            case FILLING -> replica.getPercent() + "% of " + size + " in " + replica.getCacheDirectory();
            case REMOTE, STATE_UNSPECIFIED, UNRECOGNIZED -> "waits for its turn";
        };
    }

    /// Leaves the last line as it is.
    void end() {
        if (open) {
            out.println();
            out.flush();
            open = false;
        }
    }
}
