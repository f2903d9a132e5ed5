package dev.siphon.node.image;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/// Directories that were found but not walked yet. The last one found is walked next, which keeps the queue short
/// in a deep tree.
final class DirectoryQueue {
    private final Deque<ImageInode.Folder> waiting = new ArrayDeque<>();
    private int walked;
    private boolean closed;

    DirectoryQueue(ImageInode.Folder root) {
        waiting.push(root);
    }

    /// Returns the next directory, for which the caller must call [#done]; empty if there will be no more. Waits
    /// while other threads may find some.
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

    /// Reports that a directory was walked, and adds the directories `found` in it.
    synchronized void done(List<ImageInode.Folder> found) {
        found.forEach(waiting::push);
        walked--;
        notifyAll();
    }

    /// Ends the queue.
    synchronized void close() {
        closed = true;
        notifyAll();
    }
}
