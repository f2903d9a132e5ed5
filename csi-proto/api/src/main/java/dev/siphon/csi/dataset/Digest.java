package dev.siphon.csi.dataset;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

/// A SHA-256 digest.
///
/// @param hex its 64 hexadecimal digits in lower case
public record Digest(String hex) {
    static final int BYTES = 32;
    static final int DIGITS = 2 * BYTES;

    private static final Pattern HEX = Pattern.compile("[0-9a-f]{64}");

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) unless `hex` is 64 hexadecimal digits in lower
    /// case
    public Digest {
        if (!HEX.matcher(hex).matches()) {
            throw new DriverException.InvalidRequest(
                    QuotedText.of(hex) + " is not a SHA-256 digest: expected 64 hexadecimal digits in lower case");
        }
    }

    /// Returns the digest of the remaining bytes of `bytes`, and consumes them.
    public static Digest of(ByteBuffer bytes) {
        MessageDigest sha256 = algorithm();
        sha256.update(bytes);
        return read(sha256.digest(), 0);
    }

    /// Reads a digest from the 32 bytes at `offset`.
    static Digest read(byte[] bytes, int offset) {
        return new Digest(HexFormat.of().formatHex(bytes, offset, offset + BYTES));
    }

    static MessageDigest algorithm() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /// Returns the first 160 bits as 40 digits. They distinguish datasets, while 64 digits are too long for a
    /// volume id and for the name of a loop device. To find another image with the same beginning takes 2^160
    /// tries.
    public String beginning() {
        return hex.substring(0, 40);
    }

    @Override
    public String toString() {
        return hex;
    }
}
