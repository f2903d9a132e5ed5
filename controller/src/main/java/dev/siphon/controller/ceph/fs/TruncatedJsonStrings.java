package dev.siphon.controller.ceph.fs;

import java.io.InputStream;
import java.nio.ByteBuffer;

/// A JSON text of which each string is cut after some bytes, so that whoever reads it needs no more memory for a
/// string than that: a client of Ceph may tell an MDS 16 MiB of itself (`mds_session_metadata_threshold`), in
/// names and values.
final class TruncatedJsonStrings extends InputStream {
    static final int MOST_BYTES = 4_096;

    private static final int HEX_DIGITS = 4;

    /// What follows a backslash is next.
    private static final int LETTER = -1;

    private final ByteBuffer text;
    private boolean inString;
    private int length;
    /// What is still to come of an escape sequence, which is kept or left out as a whole: [#LETTER], or digits.
    private int escape;
    private boolean keeping;

    TruncatedJsonStrings(ByteBuffer text) {
        this.text = text;
    }

    @Override
    public int read() {
        while (text.hasRemaining()) {
            int next = text.get() & 0xff;
            if (isKept(next)) {
                return next;
            }
        }
        return -1;
    }

    @Override
    public int read(byte[] bytes, int offset, int count) {
        int done = 0;
        while (done < count) {
            int next = read();
            if (next < 0) {
                return done == 0 ? -1 : done;
            }
            bytes[offset + done++] = (byte) next;
        }
        return done;
    }

    private boolean isKept(int next) {
        if (!inString) {
            inString = next == '"';
            length = 0;
            return true;
        }
        if (escape == LETTER) {
            escape = next == 'u' ? HEX_DIGITS : 0;
            return keeping;
        }
        if (escape > 0) {
            escape--;
            return keeping;
        }
        if (next == '"') {
            inString = false;
            return true;
        }
        keeping = length++ < MOST_BYTES;
        escape = next == '\\' ? LETTER : 0;
        return keeping;
    }
}
