package dev.siphon.node.linux;

import java.lang.foreign.MemorySegment;

/// A regular file of a tree, open for reading. Belongs to its [TreeReader] and that reader's thread.
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

    /// Reads from `offset` until `target`, which is native memory, is full or the file ends. Holes read as zeros.
    ///
    /// @return the number of bytes read
    /// @throws ErrnoException as pread(2)
    public long read(MemorySegment target, long offset) {
        return descriptor.read(offset, target, 1);
    }

    @Override
    public void close() {
        descriptor.close();
    }
}
