package dev.siphon.csi.fuzz;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/// Mutates valid bytes: flips bits, cuts, splices, repeats, and inserts input that often breaks parsers. The same
/// seed gives the same bytes.
final class BentBytes {
    /// The longest input; no parser has a limit that needs more.
    static final int MOST_BYTES = 128 << 10;

    private static final int MOST_CHANGES = 6;

    /// One in 60 changes inserts something deep or long; more would slow down every input.
    private static final int LARGE = 60;

    /// Input that often breaks parsers of text, numbers and binary lengths.
    private static final List<byte[]> TRICKS = List.of(
            octets(""),
            octets("\0"),
            octets("\0\0\0\0\0\0\0\0"),
            octets("\n"),
            octets("\r\n\r\n"),
            octets(" "),
            octets("\t"),
            octets("0"),
            octets("-1"),
            octets("-0"),
            octets("1e99999999"),
            octets("1e-99999999"),
            octets("1e999999999"),
            octets("1e-999999999"),
            octets("0.1e2147483648"),
            octets("9223372036854775807"),
            octets("9223372036854775808"),
            octets("18446744073709551616"),
            octets("2147483648"),
            octets("4294967296"),
            octets("NaN"),
            octets("Infinity"),
            octets("null"),
            octets("true"),
            octets("{}"),
            octets("[]"),
            octets("[[]]"),
            octets("{\"\":null}"),
            octets("\""),
            octets("\\u0000"),
            octets("\\ud800"),
            octets("\\"),
            octets("%00"),
            octets("%zz"),
            octets("%s%n"),
            octets(".."),
            octets("../../"),
            octets("/"),
            octets("//"),
            octets(":"),
            octets("@"),
            octets("="),
            octets(","),
            octets("+00:00"),
            octets("+999999999-12-31T23:59:59Z"),
            new byte[] {(byte) 0xff},
            new byte[] {(byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff},
            new byte[] {(byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0x7f},
            new byte[] {0x7f, (byte) 0xff, (byte) 0xff, (byte) 0xff},
            new byte[] {0x7f, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff
            },
            new byte[] {(byte) 0x80, 0, 0, 0, 0, 0, 0, 0},
            // invalid UTF-8: truncated, overlong, a lone surrogate, beyond the last code point
            new byte[] {(byte) 0xc3},
            new byte[] {(byte) 0xc0, (byte) 0x80},
            new byte[] {(byte) 0xed, (byte) 0xa0, (byte) 0x80},
            new byte[] {(byte) 0xf4, (byte) 0x90, (byte) 0x80, (byte) 0x80});

    /// Repeated many times: nested JSON, long texts and numbers.
    private static final List<byte[]> REPEATED = List.of(
            octets("["),
            octets("{\"a\":"),
            octets("[{\"a\":"),
            octets("{\"metadata\":"),
            octets("9"),
            octets("a"),
            octets("/"),
            octets("../"),
            octets(","),
            octets("\n"),
            octets("\n a"),
            octets("\0"),
            octets(" "),
            octets("\"a\":1,"),
            new byte[] {(byte) 0xff});

    private BentBytes() {}

    /// Returns one of `valid` with 1 to 6 changes, sometimes unchanged.
    static byte[] bend(List<byte[]> valid, long seed) {
        Random random = new Random(seed);
        byte[] bytes = valid.get(random.nextInt(valid.size()));
        for (int changes = random.nextInt(MOST_CHANGES + 1); changes > 0; changes--) {
            bytes = changed(bytes, valid, random);
        }
        return Arrays.copyOf(bytes, Math.min(bytes.length, MOST_BYTES));
    }

    private static byte[] changed(byte[] bytes, List<byte[]> valid, Random random) {
        int at = random.nextInt(bytes.length + 1);
        int end = at + random.nextInt(bytes.length - at + 1);
        if (random.nextInt(LARGE) == 0) {
            byte[] piece = REPEATED.get(random.nextInt(REPEATED.size()));
            return joined(bytes, at, repeated(piece, 1 + random.nextInt(MOST_BYTES / 2 / piece.length)), at);
        }
        byte[] trick = TRICKS.get(random.nextInt(TRICKS.size()));
        return switch (random.nextInt(10)) {
            case 0, 1, 2 -> flipped(bytes, random);
            case 3 -> Arrays.copyOf(bytes, at);
            case 4 -> joined(bytes, at, new byte[0], Math.min(end, at + 16));
            case 5 -> joined(bytes, at, trick, at);
            case 6 -> joined(bytes, at, trick, Math.min(bytes.length, at + trick.length));
            case 7 -> joined(bytes, at, trick, Math.min(end, at + 24));
            case 8 -> joined(bytes, end, repeated(Arrays.copyOfRange(bytes, at, Math.min(end, at + 512)), 4), end);
            default -> {
                byte[] other = valid.get(random.nextInt(valid.size()));
                int from = random.nextInt(other.length + 1);
                int to = from + random.nextInt(other.length - from + 1);
                yield joined(bytes, at, Arrays.copyOfRange(other, from, to), random.nextBoolean() ? at : end);
            }
        };
    }

    private static byte[] flipped(byte[] bytes, Random random) {
        byte[] flipped = bytes.clone();
        for (int bits = 1 + random.nextInt(4); bits > 0 && bytes.length > 0; bits--) {
            flipped[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(Byte.SIZE));
        }
        return flipped;
    }

    /// Joins `bytes` before `at`, `middle`, and `bytes` from `rest` on.
    private static byte[] joined(byte[] bytes, int at, byte[] middle, int rest) {
        ByteArrayOutputStream joined = new ByteArrayOutputStream(bytes.length + middle.length);
        joined.write(bytes, 0, at);
        joined.writeBytes(middle);
        joined.write(bytes, rest, bytes.length - rest);
        return joined.toByteArray();
    }

    private static byte[] repeated(byte[] piece, int times) {
        byte[] all = new byte[piece.length * times];
        for (int i = 0; i < times; i++) {
            System.arraycopy(piece, 0, all, i * piece.length, piece.length);
        }
        return all;
    }

    private static byte[] octets(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
