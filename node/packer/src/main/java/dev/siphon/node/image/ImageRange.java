package dev.siphon.node.image;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// A range of an image in memory. Writes are clipped to the range.
final class ImageRange {
    private final long start;
    private final MemorySegment memory;
    private final ByteBuffer bytes;
    private final FileData files;

    /// @param start the offset in the image in bytes
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

    /// Returns the range's buffer, for absolute writes.
    ByteBuffer bytes() {
        return bytes;
    }

    /// Puts the part of `content` that lies in this range; `content` starts at `at` in the image.
    void put(long at, byte[] content) {
        long first = Math.max(at, start);
        long last = Math.min(at + content.length, end());
        if (first < last) {
            bytes.put((int) (first - start), content, (int) (first - at), (int) (last - first));
        }
    }

    /// Does the same for a file, and reads only that part of it.
    void read(long at, ImageInode.RegularFile file) {
        long first = Math.max(at, start);
        long last = Math.min(at + file.status().size(), end());
        if (first < last) {
            files.read(file, first - at, memory.asSlice(first - start, last - first));
        }
    }
}
