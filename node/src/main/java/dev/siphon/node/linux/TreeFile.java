package dev.siphon.node.linux;

import java.lang.foreign.MemorySegment;

/// A regular file of a tree, open for reading. It belongs to the [TreeReader] that opened it, and to its thread.
public final class TreeFile implements AutoCloseable {
    private final TreeReader reader;
    private final Descriptor descriptor;

    TreeFile(TreeReader reader, Descriptor descriptor) {
        this.reader = reader;
        this.descriptor = descriptor;
    }

    /// @throws ErrnoException as statx(2)
    public FileStatus status() {
        return reader.status(descriptor);
    }

    /// Reads from `offset` until `target`, which is native memory, is full or the file ends; a hole is zeros.
    ///
    /// @return how many bytes were read
    /// @throws ErrnoException as pread(2)
    public long read(MemorySegment target, long offset) {
        return descriptor.read(offset, target, 1);
    }

    @Override
    public void close() {
        descriptor.close();
    }
}
