package dev.siphon.node.unpack;

import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.fetch.FetchFailure.Reason;
import dev.siphon.node.tar.TarBytes;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/// A tar as a stream, of which the bytes since the last read of a header are kept: the scanner reads ahead, and the
/// contents come after.
final class TarStream implements TarBytes {
    /// A block of a tar: what is shorter is cut off.
    private static final int BLOCK_BYTES = 512;

    private final InputStream stream;
    private byte[] kept = new byte[64 * 1024];
    private long start;
    private int length;
    private boolean isAtEnd;

    TarStream(InputStream stream) {
        this.stream = stream;
    }

    /// Returns the number of bytes; without a limit until the end has been read.
    @Override
    public long size() {
        return isAtEnd ? start + length : Long.MAX_VALUE;
    }

    /// Returns zeros after the end, which the caller sees by the size.
    ///
    /// @param offset not before that of the last call
    /// @throws UncheckedIOException if the stream is damaged
    @Override
    public void read(long offset, byte[] target, int count) {
        try {
            forgetBefore(offset);
            fill(count);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (length < Math.min(count, BLOCK_BYTES)) {
            throw new FetchFailure(
                    Reason.MALFORMED,
                    "the tar ends after " + (start + length) + " bytes without an end mark: it was cut off");
        }
        int there = Math.min(count, length);
        System.arraycopy(kept, 0, target, 0, there);
        java.util.Arrays.fill(target, there, count, (byte) 0);
    }

    /// Passes `count` bytes from `at` on to `target`.
    ///
    /// @param at not before the last header
    /// @param offset in the file
    void copy(long at, long count, long offset, TreeSink.Target target) throws IOException {
        long left = count;
        long to = offset;
        long from = at;
        while (left > 0) {
            forgetBefore(from);
            if (length == 0) {
                fill(1);
            }
            if (length == 0) {
                throw new IOException("the tar ends within a file: it was cut off");
            }
            int part = (int) Math.min(left, length);
            target.write(to, kept, part);
            left -= part;
            to += part;
            from += part;
        }
    }

    private void forgetBefore(long offset) throws IOException {
        if (offset < start) {
            throw new IllegalStateException("byte " + offset + " of a tar was read before byte " + start);
        }
        int gone = (int) Math.min(length, offset - start);
        System.arraycopy(kept, gone, kept, 0, length - gone);
        length -= gone;
        start += gone;
        while (start < offset && !isAtEnd) {
            int read = stream.read(kept, 0, (int) Math.min(kept.length, offset - start));
            isAtEnd = read < 0;
            start += Math.max(0, read);
        }
        if (start < offset) {
            throw new IOException("the tar ends after " + start + " bytes: it was cut off");
        }
    }

    private void fill(int count) throws IOException {
        if (count > kept.length) {
            kept = java.util.Arrays.copyOf(kept, count);
        }
        while (length < count && !isAtEnd) {
            int read = stream.read(kept, length, kept.length - length);
            isAtEnd = read < 0;
            length += Math.max(0, read);
        }
    }
}
