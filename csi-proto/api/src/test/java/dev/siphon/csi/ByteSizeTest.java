package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ByteSizeTest {
    @ParameterizedTest(name = "{0} is {1} bytes")
    @CsvSource({
        "0, 0",
        "4096, 4096",
        "4096B, 4096",
        "1k, 1000",
        "1K, 1000",
        "1Ki, 1024",
        "1KiB, 1024",
        "500Gi, 536870912000",
        "500GiB, 536870912000",
        "500 GiB, 536870912000",
        "50G, 50000000000",
        "1T, 1000000000000",
        "1 TB, 1000000000000",
        "2Ti, 2199023255552",
        "1.5Ti, 1649267441664",
        "0.5Ki, 512",
        "1.0001k, 1000",
        "1Pi, 1125899906842624",
        "7Ei, 8070450532247928832",
        "9223372036854775807, 9223372036854775807"
    })
    void sizesAreReadAsPeopleWriteThem(String text, long bytes) {
        assertEquals(bytes, ByteSize.bytes(text));
        assertEquals(bytes, ByteSize.bytes(" " + text + "\n"));
    }

    @ParameterizedTest(name = "[{0}] is not a size")
    @ValueSource(
            strings = {
                "",
                " ",
                "Gi",
                "-1",
                "+1",
                "1e3",
                "0x10",
                "1 000",
                "1,5T",
                "1g",
                "1gi",
                "1t",
                "1iG",
                "1GiX",
                "1 G i",
                "8Ei",
                "9223372036854775808",
                "99999999999999999999",
                "1..5G",
                ".5G",
                "5.G",
                "NaN",
                "unlimited",
                "١G"
            })
    void whatIsNoSizeIsRefused(String text) {
        var refused = assertThrows(IllegalArgumentException.class, () -> ByteSize.bytes(text));
        assertTrue(String.valueOf(refused.getMessage()).startsWith("\""), refused.getMessage());
    }
}
