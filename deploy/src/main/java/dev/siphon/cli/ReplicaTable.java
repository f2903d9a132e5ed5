package dev.siphon.cli;

import dev.siphon.csi.report.Table;
import dev.siphon.csi.report.Table.Cell;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import siphon.node.v1.Replica;

/// The datasets of a node, one row each.
final class ReplicaTable {
    /// Digits of a shortened digest: enough to identify one of a node's datasets.
    private static final int DIGITS = 12;

    private ReplicaTable() {}

    /// @param whole whether to show full digests, and missing values as empty text: for scripts
    static Table of(List<Replica> replicas, boolean whole) {
        Table table =
                new Table("dataset", "state", "size", "percent", "where", "attached", "pinned", "last_use", "problem");
        String none = whole ? "" : "-";
        for (Replica replica : replicas) {
            boolean onDisk = !replica.getCacheDirectory().isEmpty();
            table.row(
                    new Cell.Text(whole ? replica.getDigest() : beginning(replica)),
                    new Cell.Text(replica.getState().name().toLowerCase(Locale.ROOT)),
                    new Cell.Bytes(replica.getBytes()),
                    new Cell.Count(replica.getPercent()),
                    new Cell.Text(onDisk ? replica.getCacheDirectory() : none),
                    new Cell.Text(
                            switch (replica.getAttachment()) {
                                case FROM_CEPHFS -> "cephfs";
                                case FROM_REPLICA -> "replica";
                                case NONE, UNRECOGNIZED -> "no";
                            }),
                    new Cell.Text(replica.getPinned() ? "yes" : "no"),
                    new Cell.Text(
                            replica.hasLastUse()
                                    ? Instant.ofEpochSecond(replica.getLastUse().getSeconds())
                                            .toString()
                                    : none),
                    new Cell.Text(replica.getProblem().isEmpty() ? none : replica.getProblem()));
        }
        return table;
    }

    /// Returns a digest shortened for people.
    static String beginning(Replica replica) {
        return replica.getDigest()
                .substring(0, Math.min(DIGITS, replica.getDigest().length()));
    }
}
