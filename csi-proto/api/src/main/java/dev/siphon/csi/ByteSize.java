package dev.siphon.csi;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Parses and formats sizes for people: bytes, or a number with a unit of Kubernetes quantities.
public final class ByteSize {
    private static final Pattern FORM = Pattern.compile("([0-9]{1,19}(?:\\.[0-9]{1,9})?) ?([kKMGTPE]i?)?B?");
    private static final Map<String, Integer> EXPONENTS =
            Map.of("k", 1, "K", 1, "M", 2, "G", 3, "T", 4, "P", 5, "E", 6);
    private static final int KILO = 1024;
    private static final BigDecimal MOST = BigDecimal.valueOf(Long.MAX_VALUE);

    private ByteSize() {}

    /// Returns the bytes of a size, rounded down: `500Gi` and `500GiB` are 500 × 2^30, `1T` and `1 TB` are 10^12,
    /// `4096` is 4096.
    ///
    /// @throws IllegalArgumentException if `text` is no size, or more than 2^63 - 1
    public static long bytes(String text) {
        Matcher parts = FORM.matcher(text.strip());
        if (!parts.matches()) {
            throw new IllegalArgumentException(QuotedText.of(text)
                    + " is not a size: expected bytes, or a number with a unit such as 500Gi, 1.5T");
        }
        BigDecimal bytes = new BigDecimal(parts.group(1)).multiply(factor(parts.group(2)));
        if (bytes.compareTo(MOST) > 0) {
            throw new IllegalArgumentException(QuotedText.of(text) + " is more than 2^63 - 1 bytes");
        }
        return bytes.setScale(0, RoundingMode.DOWN).longValueExact();
    }

    /// Formats bytes for people, rounded down: `512 B`, `12 GiB`, `1.5 TiB`.
    public static String text(long bytes) {
        int unit = bytes < KILO ? 0 : (Long.SIZE - 1 - Long.numberOfLeadingZeros(bytes)) / 10;
        if (unit == 0) {
            return bytes + " B";
        }
        BigDecimal value = BigDecimal.valueOf(bytes)
                .divide(BigDecimal.valueOf(1L << (10 * unit)), 2, RoundingMode.DOWN)
                .stripTrailingZeros();
        return value.toPlainString() + " " + "KMGTPE".charAt(unit - 1) + "iB";
    }

    private static BigDecimal factor(@org.jspecify.annotations.Nullable String unit) {
        if (unit == null) {
            return BigDecimal.ONE;
        }
        int exponent = EXPONENTS.getOrDefault(unit.substring(0, 1), 0);
        return BigDecimal.valueOf(unit.endsWith("i") ? 1024 : 1000).pow(exponent);
    }
}
