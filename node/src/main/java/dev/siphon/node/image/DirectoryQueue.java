package dev.siphon.node.image;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/// Directories that were found and not yet walked. The last one found is the next to be walked, which keeps
/// them few in a deep tree.
final class DirectoryQueue {
    private final Deque<ImageInode.Folder> waiting = new ArrayDeque<>();
    private int walked;
    private boolean closed;

    DirectoryQueue(ImageInode.Folder root) {
        waiting.push(root);
    }

    /// The next one, to be answered with [#done]; empty when there will be none. Waits while others may find
    /// some.
    synchronized Optional<ImageInode.Folder> next() {
        while (!closed && waiting.isEmpty() && walked > 0) {
            try {
                wait();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                closed = true;
            }
        }
        if (closed || waiting.isEmpty()) {
            return Optional.empty();
        }
        walked++;
        return Optional.of(waiting.pop());
    }

    /// A directory has been walked, and has `found` in it.
    synchronized void done(List<ImageInode.Folder> found) {
        found.forEach(waiting::push);
        walked--;
        notifyAll();
    }

    /// There will be none.
    synchronized void close() {
        closed = true;
        notifyAll();
    }
}
