package dev.siphon.node.tar;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/// The records of a pax header for the members after it: one `LENGTH KEY=VALUE` per line. An empty value cancels an
/// earlier one.
final class PaxRecords {
    static final PaxRecords NONE = new PaxRecords(Map.of(), List.of());

    private static final String ATTRIBUTE = "SCHILY.xattr.";
    private static final String SPARSE_OFFSET = "GNU.sparse.offset";
    private static final String SPARSE_LENGTH = "GNU.sparse.numbytes";
    private static final int NANO_DIGITS = 9;
    private static final BigInteger NANOS = BigInteger.valueOf(1_000_000_000);
    /// Enough for a year of eleven digits. A longer text could be a number that fills the memory.
    private static final int MAX_TIME_CHARS = 40;

    private final Map<String, byte[]> values;
    private final List<String> sparse;

    private PaxRecords(Map<String, byte[]> values, List<String> sparse) {
        this.values = values;
        this.sparse = sparse;
    }

    /// Returns these records, completed by `others`.
    PaxRecords or(PaxRecords others) {
        if (others.values.isEmpty()) {
            return this;
        }
        Map<String, byte[]> all = new HashMap<>(others.values);
        all.putAll(values);
        return new PaxRecords(all, sparse.isEmpty() ? others.sparse : sparse);
    }

    /// @param offset of the records in the tar
    static PaxRecords parse(byte[] data, long offset) {
        Map<String, byte[]> values = new HashMap<>();
        List<String> sparse = new ArrayList<>();
        for (int start = 0; start < data.length && data[start] != 0; ) {
            int space = find(data, start, data.length, ' ', offset);
            int end = start + length(data, start, space, offset);
            if (end <= space || end > data.length || data[end - 1] != '\n') {
                throw MalformedTar.at(offset + start, "a line of a pax header does not end where it should");
            }
            int equals = find(data, space + 1, end, '=', offset);
            String key = new String(data, space + 1, equals - space - 1, StandardCharsets.ISO_8859_1);
            byte[] value = Arrays.copyOfRange(data, equals + 1, end - 1);
            if (key.equals(SPARSE_OFFSET) || key.equals(SPARSE_LENGTH)) {
                sparse.add(new String(value, StandardCharsets.ISO_8859_1));
            }
            values.put(key, value);
            start = end;
        }
        return new PaxRecords(values, sparse);
    }

    private static int find(byte[] data, int from, int end, char wanted, long offset) {
        for (int i = from; i < end; i++) {
            if (data[i] == wanted) {
                return i;
            }
        }
        throw MalformedTar.at(offset + from, "a line of a pax header is malformed");
    }

    private static int length(byte[] data, int start, int space, long offset) {
        try {
            return Integer.parseUnsignedInt(new String(data, start, space - start, StandardCharsets.ISO_8859_1));
        } catch (NumberFormatException _) {
            throw MalformedTar.at(offset + start, "a line of a pax header does not begin with its length");
        }
    }

    Optional<String> text(String key) {
        return Optional.ofNullable(values.get(key))
                .filter(value -> value.length > 0)
                .map(value -> new String(value, StandardCharsets.ISO_8859_1));
    }

    /// @throws dev.siphon.csi.DriverException.InvalidRequest (INVALID_ARGUMENT) if it is not a number
    Optional<Long> number(String key, long offset) {
        return text(key).map(value -> parsed(key, value, offset));
    }

    static long parsed(String key, String value, long offset) {
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException _) {
            throw MalformedTar.at(offset, "the " + key + " in a pax header is not a number");
        }
    }

    /// Returns a time, rounded down to nanoseconds.
    Optional<TarMember.Time> time(String key, long offset) {
        return text(key).map(value -> {
            try {
                if (value.length() > MAX_TIME_CHARS || value.indexOf('e') >= 0 || value.indexOf('E') >= 0) {
                    throw new NumberFormatException(key);
                }
                BigInteger nanos = new BigDecimal(value)
                        .setScale(NANO_DIGITS, RoundingMode.FLOOR)
                        .unscaledValue();
                BigInteger rest = nanos.mod(NANOS);
                return new TarMember.Time(nanos.subtract(rest).divide(NANOS).longValueExact(), rest.intValueExact());
            } catch (ArithmeticException | NumberFormatException _) {
                throw MalformedTar.at(offset, "the " + key + " in a pax header is not a time");
            }
        });
    }

    /// Returns offsets and lengths alternately, as in format 0.0 of sparse files.
    List<String> sparse() {
        return sparse;
    }

    SortedMap<String, byte[]> attributes() {
        SortedMap<String, byte[]> found = new TreeMap<>();
        values.forEach((key, value) -> {
            if (key.startsWith(ATTRIBUTE)) {
                // undo GNU tar's escapes of its own delimiters
                String name =
                        key.substring(ATTRIBUTE.length()).replace("%3D", "=").replace("%25", "%");
                found.put(name, value);
            }
        });
        return found;
    }
}
