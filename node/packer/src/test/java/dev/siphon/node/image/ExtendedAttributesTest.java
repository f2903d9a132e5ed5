package dev.siphon.node.image;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ExtendedAttributesTest {
    private static byte[] encoded(Map<String, byte[]> attributes) {
        return ExtendedAttributes.encoded(new TreeMap<>(attributes), "\"path\"");
    }

    @ParameterizedTest
    @CsvSource({
        "user.a, true, true",
        "user., false, false",
        "system.posix_acl_access, false, true",
        "system.posix_acl_default, false, true",
        "system.nfs4_acl, false, false",
        "security.capability, false, false",
        "trusted.a, false, false",
        "ceph.quota.max_bytes, false, false"
    })
    void onlyWhatGivesNoRightsIsKept(String name, boolean readable, boolean preserved) {
        assertEquals(readable, ExtendedAttributes.keeps(ImageModes.READABLE, name));
        assertEquals(preserved, ExtendedAttributes.keeps(ImageModes.PRESERVED, name));
    }

    @Test
    void eachIsFilledUpToFourOctets() {
        byte[] all = encoded(Map.of("user.ab", new byte[] {7, 8, 9}, "system.posix_acl_access", new byte[] {5}));
        assertArrayEquals(
                new byte[] {
                    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // the header
                    0, 2, 1, 0, 5, 0, 0, 0, // the access list
                    2, 1, 3, 0, 'a', 'b', 7, 8, 9, 0, 0, 0
                },
                all);
        assertEquals(1 + 20 / 4, ExtendedAttributes.count(all));
        assertEquals(0, ExtendedAttributes.count(ExtendedAttributes.NONE));
    }

    @Test
    void whatErofsCannotHoldIsRefusedByPath() {
        assertEquals(12 + 4 + 1 + 65_535, encoded(Map.of("user.a", new byte[65_535])).length);
        var refused = assertThrows(
                DriverException.CapacityOutOfRange.class, () -> encoded(Map.of("user.a", new byte[65_536])));
        assertTrue(refused.getMessage().contains("\"path\""), refused.getMessage());
        Map<String, byte[]> many = new TreeMap<>();
        for (int i = 0; i < 5; i++) {
            many.put("user." + i, new byte[60_000]);
        }
        assertThrows(DriverException.CapacityOutOfRange.class, () -> encoded(many));
    }
}
