package dev.siphon.node.kubernetes;

import dev.siphon.csi.DriverException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/// What another side sends, up to some bytes: it has to fit into a process of a few dozen megabytes, whatever it is.
///
/// Beyond these, reading throws [DriverException.BackendFault] (INTERNAL).
final class CappedStream extends FilterInputStream {
    private final String what;
    private final long mostBytes;
    private final boolean perLine;
    private long bytes;

    private CappedStream(InputStream in, String what, long mostBytes, boolean perLine) {
        super(in);
        this.what = what;
        this.mostBytes = mostBytes;
        this.perLine = perLine;
    }

    /// @param what is read, for people
    static CappedStream whole(InputStream in, String what, long mostBytes) {
        return new CappedStream(in, what, mostBytes, false);
    }

    /// Without an end, but of lines that have one, some kilobytes more or less.
    static CappedStream lines(InputStream in, String what, long mostBytes) {
        return new CappedStream(in, what, mostBytes, true);
    }

    /// What was read, or, of lines, of the last one.
    long bytes() {
        return bytes;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        int read = super.read(into, offset, length);
        int rest = perLine ? sinceLastLine(into, offset, read) : -1;
        bytes = rest >= 0 ? rest : bytes + Math.max(0, read);
        if (bytes > mostBytes) {
            throw new DriverException.BackendFault(
                    what + ": more than " + (mostBytes >> 10) + " KiB, which is the most that is read");
        }
        return read;
    }

    /// @return -1 if no line ends there
    private static int sinceLastLine(byte[] text, int offset, int length) {
        for (int at = length - 1; at >= 0; at--) {
            if (text[offset + at] == '\n') {
                return length - 1 - at;
            }
        }
        return -1;
    }

    @Override
    public boolean markSupported() {
        return false;
    }

    @Override
    public long skip(long count) throws IOException {
        return readNBytes((int) Math.min(count, 8192)).length;
    }
}
