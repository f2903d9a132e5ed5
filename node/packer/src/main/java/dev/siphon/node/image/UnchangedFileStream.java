package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.fetch.RunningDigest;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Reads a file sequentially.
final class UnchangedFileStream extends InputStream {
    private static final int AT_ONCE = 1 << 20;

    private final UnchangedFile file;
    private final ImportListener listener;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(AT_ONCE);
    private MemorySegment left = memory.asSlice(0, 0);
    private long at;

    UnchangedFileStream(UnchangedFile file, ImportListener listener) {
        this.file = file;
        this.listener = listener;
    }

    /// Returns the first `most` bytes, or fewer if the file is shorter.
    static byte[] first(UnchangedFile file, int most) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory =
                    arena.allocate(most).asSlice(0, Math.min(most, file.status().size()));
            file.read(0, memory);
            return memory.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    private boolean fill() {
        long rest = file.status().size() - at;
        if (left.byteSize() == 0 && rest > 0) {
            left = memory.asSlice(0, Math.min(AT_ONCE, rest));
            file.read(at, left);
            at += left.byteSize();
            listener.read(at, file.status().size());
        }
        return left.byteSize() > 0;
    }

    @Override
    public int read(byte[] target, int offset, int length) {
        if (length == 0) {
            return 0;
        }
        if (!fill()) {
            return -1;
        }
        int count = (int) Math.min(length, left.byteSize());
        MemorySegment.copy(left, ValueLayout.JAVA_BYTE, 0, target, offset, count);
        left = left.asSlice(count);
        return count;
    }

    @Override
    public int read() {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
    }

    /// Returns 0 only at the end: a gzip stream checks this to find a concatenated stream.
    @Override
    public int available() {
        return (int) Math.min(Integer.MAX_VALUE, file.status().size() - at + left.byteSize());
    }

    /// Reads the whole file and closes this stream.
    ///
    /// @throws DriverException.BackendFault (INTERNAL) if the digest does not match
    void check(Digest expected) {
        try (this) {
            RunningDigest digest = new RunningDigest();
            while (fill()) {
                digest.add(left.asByteBuffer());
                left = memory.asSlice(0, 0);
            }
            if (!digest.sofar().equals(expected)) {
                throw new DriverException.BackendFault(file.shown() + " has the SHA-256 digest " + digest.sofar()
                        + ", not the expected " + expected + ": check which is right");
            }
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
