package dev.siphon.node.linux;

import java.util.concurrent.atomic.AtomicBoolean;

/// A file descriptor that is closed once, by its owner.
final class Descriptor implements AutoCloseable {
    private final int number;
    private final AtomicBoolean open = new AtomicBoolean(true);

    Descriptor(long number) {
        this.number = Math.toIntExact(number);
    }

    /// @throws IllegalStateException if it has been closed: its number may by now be somebody else's
    int number() {
        if (!open.get()) {
            throw new IllegalStateException("file descriptor " + number + " is closed");
        }
        return number;
    }

    /// The path by which this process reaches the open file, whatever happens to its name.
    String path() {
        return "/proc/self/fd/" + number();
    }

    @Override
    public void close() {
        if (open.getAndSet(false)) {
            Syscalls.CLOSE.call(number);
        }
    }
}
