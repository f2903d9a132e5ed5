package dev.siphon.controller.ceph;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/// Encodes the keys and values of notes so that the mgr can store them. It reads and writes its `.meta` files
/// with Python's ConfigParser, which lowercases keys, rejects `%`, ends values at line breaks and strips blanks.
///
/// Each byte at risk becomes an escape character and two hexadecimal digits.
final class MetadataEncoding {
    private static final char KEY_ESCAPE = '_';
    private static final char VALUE_ESCAPE = '=';
    private static final HexFormat HEX = HexFormat.of();

    private MetadataEncoding() {}

    /// Encodes a key.
    static String keptKey(String key) {
        StringBuilder kept = new StringBuilder();
        for (byte each : key.getBytes(StandardCharsets.UTF_8)) {
            boolean plain = (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9') || ".-/".indexOf(each) >= 0;
            append(kept, each, plain, KEY_ESCAPE);
        }
        return kept.toString();
    }

    /// Encodes a value.
    static String keptValue(String value) {
        StringBuilder kept = new StringBuilder();
        for (byte each : value.getBytes(StandardCharsets.UTF_8)) {
            boolean plain = each > ' ' && each <= '~' && each != '%' && each != VALUE_ESCAPE;
            append(kept, each, plain, VALUE_ESCAPE);
        }
        return kept.toString();
    }

    /// Decodes a key.
    static String key(String kept) {
        return read(kept, KEY_ESCAPE);
    }

    /// Decodes a value.
    static String value(String kept) {
        return read(kept, VALUE_ESCAPE);
    }

    private static void append(StringBuilder kept, byte each, boolean plain, char escape) {
        if (plain) {
            kept.append((char) each);
        } else {
            kept.append(escape).append(HEX.toHexDigits(each));
        }
    }

    /// Decodes `kept`. Text that people wrote with other tools stays unchanged where it has no valid escape.
    private static String read(String kept, char escape) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] all = kept.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < all.length; i++) {
            boolean escaped = all[i] == escape
                    && i + 2 < all.length
                    && HexFormat.isHexDigit(all[i + 1])
                    && HexFormat.isHexDigit(all[i + 2]);
            if (escaped) {
                bytes.write(HexFormat.fromHexDigit(all[i + 1]) << 4 | HexFormat.fromHexDigit(all[i + 2]));
                i += 2;
            } else {
                bytes.write(all[i]);
            }
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
