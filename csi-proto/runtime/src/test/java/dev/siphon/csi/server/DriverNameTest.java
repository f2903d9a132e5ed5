package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class DriverNameTest {
    @ParameterizedTest
    @ValueSource(strings = {"cephfs.siphon.dev", "x", "a-b.c", "0.1", "A.b"})
    void aDomainNameIsTaken(String name) {
        assertEquals(name, new DriverName(name).toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ".",
                "-a",
                "a-",
                ".a",
                "a.",
                "a..b",
                "a_b",
                "a b",
                "a/b",
                "ü",
                "a\n",
                "0123456789012345678901234567890123456789012345678901234567890123"
            })
    void anyOtherIsRefused(String name) {
        assertThrows(IllegalArgumentException.class, () -> new DriverName(name));
    }
}
