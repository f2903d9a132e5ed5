package dev.siphon.node.tar;

import dev.siphon.csi.DriverException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// A header block of 512 bytes: `struct posix_header` of GNU tar's `tar.h` and pax(1p).
final class TarHeader {
    static final int BYTES = 512;

    private static final int CHECKSUM = 148;
    private static final int CHECKSUM_BYTES = 8;

    private final long offset;
    private final byte[] block;

    private TarHeader(long offset, byte[] block) {
        this.offset = offset;
        this.block = block;
    }

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is not a header
    static TarHeader of(long offset, byte[] block) {
        TarHeader header = new TarHeader(offset, block);
        if (!header.hasItsChecksum()) {
            throw noHeader(offset, "its checksum is wrong");
        }
        return header;
    }

    private static DriverException noHeader(long offset, String why) {
        return MalformedTar.at(
                offset, offset == 0 ? "it does not begin as a tar does" : "there should be a header, and " + why);
    }

    static boolean isEnd(byte[] block) {
        for (byte each : block) {
            if (each != 0) {
                return false;
            }
        }
        return true;
    }

    /// Checks the sum of both unsigned and signed bytes, because old programs used signed ones.
    private boolean hasItsChecksum() {
        long unsigned = 0;
        long signed = 0;
        for (int i = 0; i < BYTES; i++) {
            byte each = i >= CHECKSUM && i < CHECKSUM + CHECKSUM_BYTES ? (byte) ' ' : block[i];
            unsigned += Byte.toUnsignedInt(each);
            signed += each;
        }
        long written = number(CHECKSUM, CHECKSUM_BYTES);
        return written == unsigned || written == signed;
    }

    /// Returns the header's offset in the tar, in bytes.
    long offset() {
        return offset;
    }

    /// Returns the offset of the data after the header.
    long dataAt() {
        return offset + BYTES;
    }

    char type() {
        return (char) (block[156] & 0xff);
    }

    String name() {
        String name = text(0, 100);
        String prefix = isPosix() ? text(345, 155) : "";
        return prefix.isEmpty() ? name : prefix + "/" + name;
    }

    String link() {
        return text(157, 100);
    }

    int permissions() {
        return (int) (number(100, 8) & 07777);
    }

    long uid() {
        return number(108, 8);
    }

    long gid() {
        return number(116, 8);
    }

    /// Returns the size of the data by this block, in bytes.
    long size() {
        return number(124, 12);
    }

    long modified() {
        return number(136, 12);
    }

    /// Whether the prefix field is valid: GNU tar stores other fields there.
    private boolean isPosix() {
        return text(257, 6).equals("ustar") && block[262] == 0;
    }

    String text(int from, int most) {
        int end = from;
        while (end < from + most && block[end] != 0) {
            end++;
        }
        return new String(block, from, end - from, StandardCharsets.ISO_8859_1);
    }

    /// Parses a number: octal digits, or binary if the first bit is set.
    long number(int from, int bytes) {
        return number(block, from, bytes, offset);
    }

    static long number(byte[] block, int from, int bytes, long offset) {
        if ((block[from] & 0x80) != 0) {
            return binary(block, from, bytes, offset);
        }
        String digits = new String(block, from, bytes, StandardCharsets.ISO_8859_1)
                .replace('\0', ' ')
                .strip();
        int end = digits.indexOf(' ');
        String octal = end < 0 ? digits : digits.substring(0, end);
        try {
            return octal.isEmpty() ? 0 : Long.parseLong(octal, 8);
        } catch (NumberFormatException _) {
            throw noHeader(offset, "one of its numbers is malformed");
        }
    }

    /// Parses two's complement, without the first bit.
    private static long binary(byte[] block, int from, int bytes, long offset) {
        byte[] value = Arrays.copyOfRange(block, from, from + bytes);
        value[0] = (byte) ((value[0] & 0x40) == 0 ? value[0] & 0x7f : value[0]);
        try {
            return new java.math.BigInteger(value).longValueExact();
        } catch (ArithmeticException _) {
            throw MalformedTar.at(offset, "a number is larger than any file");
        }
    }
}
