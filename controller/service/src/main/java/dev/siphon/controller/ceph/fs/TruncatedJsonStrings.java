package dev.siphon.controller.ceph.fs;

import java.io.InputStream;
import java.nio.ByteBuffer;

/// Truncates each string of a JSON text to [#MOST_BYTES] bytes, so that its reader needs no more memory per
/// string. A Ceph client may report 16 MiB about itself to an MDS (`mds_session_metadata_threshold`), in names
/// and values.
final class TruncatedJsonStrings extends InputStream {
    static final int MOST_BYTES = 4_096;

    private static final int HEX_DIGITS = 4;

    /// The character after a backslash is next.
    private static final int LETTER = -1;

    private final ByteBuffer text;
    private boolean inString;
    private int length;
    /// The rest of an escape sequence, which is kept or dropped as a whole: [#LETTER], or the number of digits.
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
