package dev.siphon.csi.dataset;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Reads the text of a manifest once, line by line, with the memory of one line.
final class ManifestReader {
    private static final Pattern HEAD = Pattern.compile("siphon-dataset 1\nimage-bytes ([0-9]{1,18})\n"
            + "files ([0-9]{1,18})\nchunk-bytes " + Manifest.CHUNK_BYTES + "\n");
    private static final int HEAD_LINES = 4;
    private static final int MOST_HEAD_BYTES = 120;
    private static final int LINE_BYTES = Digest.DIGITS + 1;
    private static final int SHOWN_CHARS = 40;

    private final MessageDigest sha256 = Digest.algorithm();
    private final InputStream in;
    private final Head head;
    private final byte[] line = new byte[LINE_BYTES];

    /// The lines before the chunks.
    ///
    /// @param length the length of their text in bytes
    record Head(long imageBytes, long files, int length) {
        int chunks() {
            return Math.toIntExact(Math.ceilDiv(imageBytes, Manifest.CHUNK_BYTES));
        }
    }

    /// Reads the head.
    ///
    /// @param textBytes the length of `in`
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is not a manifest, or its length does not
    ///     fit its image
    ManifestReader(InputStream in, long textBytes) throws IOException {
        this.in = new BufferedInputStream(new DigestInputStream(in, sha256), 1 << 16);
        head = head(beginning());
        long wanted = head.length() + (long) head.chunks() * LINE_BYTES;
        if (textBytes != wanted) {
            throw new DriverException.InvalidRequest("a manifest of an image of " + head.imageBytes() + " bytes has "
                    + textBytes + " bytes, but its " + head.chunks() + " chunks need " + wanted);
        }
    }

    Head head() {
        return head;
    }

    /// Parses the head at the beginning of `text`.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if there is none
    static Head head(String text) {
        Matcher matcher = HEAD.matcher(text);
        if (!matcher.lookingAt()) {
            throw new DriverException.InvalidRequest("not a dataset's manifest that this version can read: it begins "
                    + QuotedText.of(text.substring(0, Math.min(text.length(), SHOWN_CHARS))));
        }
        Head head = new Head(Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2)), matcher.end());
        Manifest.requirePossible(head.imageBytes(), head.files());
        return head;
    }

    private String beginning() throws IOException {
        StringBuilder text = new StringBuilder();
        for (int lines = 0; lines < HEAD_LINES && text.length() < MOST_HEAD_BYTES; ) {
            int next = in.read();
            if (next < 0) {
                break;
            }
            text.append((char) next);
            lines += next == '\n' ? 1 : 0;
        }
        return text.toString();
    }

    /// Reads the digest of the next chunk into `bytes` at `at`.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the line is not a digest
    void next(byte[] bytes, int at) throws IOException {
        int length = in.readNBytes(line, 0, LINE_BYTES);
        boolean whole = length == LINE_BYTES && line[Digest.DIGITS] == '\n';
        for (int i = 0; whole && i < Digest.BYTES; i++) {
            int high = digit(line[2 * i]);
            int low = digit(line[2 * i + 1]);
            whole = high >= 0 && low >= 0;
            bytes[at + i] = (byte) (high << 4 | low);
        }
        if (!whole) {
            throw new DriverException.InvalidRequest("a line of a manifest is not a SHA-256 digest: "
                    + QuotedText.of(new String(line, 0, length, StandardCharsets.ISO_8859_1)));
        }
    }

    /// @return negative unless `letter` is a hexadecimal digit in lower case
    private static int digit(byte letter) {
        return letter >= 'A' && letter <= 'F' ? -1 : Character.digit(letter, 16);
    }

    /// Returns the digest of the text; call it after the last chunk.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the text continues
    Digest root() throws IOException {
        if (in.read() >= 0) {
            throw new DriverException.InvalidRequest("a manifest continues after its last chunk");
        }
        return Digest.read(sha256.digest(), 0);
    }
}
