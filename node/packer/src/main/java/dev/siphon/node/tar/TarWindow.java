package dev.siphon.node.tar;

import java.util.Arrays;

/// Reads a tar in pieces of 32 KiB, which hold several small members each.
final class TarWindow {
    private static final int BYTES = 32 * 1024;

    private final TarBytes bytes;
    private final byte[] window = new byte[BYTES];
    private long start;
    private int length;

    TarWindow(TarBytes bytes) {
        this.bytes = bytes;
    }

    long size() {
        return bytes.size();
    }

    /// Returns `count` bytes from `offset` on. The caller stays within the size.
    byte[] read(long offset, int count) {
        if (count > BYTES) {
            byte[] read = new byte[count];
            bytes.read(offset, read, count);
            return read;
        }
        if (offset < start || offset + count > start + length) {
            start = offset;
            length = (int) Math.min(BYTES, bytes.size() - offset);
            bytes.read(start, window, length);
        }
        int from = (int) (offset - start);
        return Arrays.copyOfRange(window, from, from + count);
    }
}
