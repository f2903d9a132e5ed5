package dev.siphon.node.image;

import java.util.List;
import java.util.TreeSet;

/// Collects files that are not packed. A dataset has no use for sockets, FIFOs and devices, and a device would be
/// usable on each node.
final class SkippedFiles {
    private static final int SHOWN = 10;

    private final TreeSet<String> first = new TreeSet<>();
    private long count;

    synchronized void add(String path) {
        count++;
        first.add(path);
        if (first.size() > SHOWN) {
            first.pollLast();
        }
    }

    /// Reports to `listener`, if there are any.
    synchronized void reportTo(PackListener listener) {
        if (count > 0) {
            listener.leftOut(count, List.copyOf(first));
        }
    }
}
