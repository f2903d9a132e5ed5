package dev.siphon.node.image;

import java.util.List;
import java.util.TreeSet;

/// What is not packed: a dataset has no use for sockets, FIFOs and devices, and a device would be one on
/// each node.
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

    /// Tells `listener`, if there is something to tell.
    synchronized void reportTo(PackListener listener) {
        if (count > 0) {
            listener.leftOut(count, List.copyOf(first));
        }
    }
}
