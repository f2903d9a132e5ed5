package dev.siphon.node.image;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// A part of an image in memory, of which whatever is put there takes what lies within it.
final class ImageRange {
    private final long start;
    private final MemorySegment memory;
    private final ByteBuffer bytes;
    private final FileData files;

    /// @param start where in the image, in bytes
    ImageRange(long start, MemorySegment memory, FileData files) {
        this.start = start;
        this.memory = memory;
        this.bytes = memory.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
        this.files = files;
    }

    long start() {
        return start;
    }

    long end() {
        return start + memory.byteSize();
    }

    /// All of it, to be written to at absolute positions.
    ByteBuffer bytes() {
        return bytes;
    }

    /// Puts what of `content`, which begins at `at` in the image, is in this range.
    void put(long at, byte[] content) {
        long first = Math.max(at, start);
        long last = Math.min(at + content.length, end());
        if (first < last) {
            bytes.put((int) (first - start), content, (int) (first - at), (int) (last - first));
        }
    }

    /// The same of a file, which is read no further than that.
    void read(long at, ImageInode.RegularFile file) {
        long first = Math.max(at, start);
        long last = Math.min(at + file.status().size(), end());
        if (first < last) {
            files.read(file, first - at, memory.asSlice(first - start, last - first));
        }
    }
}
