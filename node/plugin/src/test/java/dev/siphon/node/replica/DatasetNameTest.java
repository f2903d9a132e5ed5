package dev.siphon.node.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DatasetNameTest {
    private static final Digest ONE = new Digest("0123456789abcdef".repeat(4));
    private static final Digest LIKE_ONE = new Digest("01234567" + "f".repeat(56));
    private static final Digest OTHER = new Digest("f".repeat(64));
    private static final List<Digest> KNOWN = List.of(ONE, LIKE_ONE, OTHER);

    @Test
    void aDigestAndItsBeginningNameTheSame() {
        assertEquals(ONE, new DatasetName(ONE.hex()).among(KNOWN));
        assertEquals(ONE, new DatasetName(ONE.beginning()).among(KNOWN));
        assertEquals(ONE, new DatasetName("012345678").among(KNOWN));
        assertEquals(OTHER, new DatasetName("ffffffff").among(List.of(OTHER, OTHER)));
    }

    @Test
    void aBeginningOfSeveralNamesNone() {
        var thrown = assertThrows(DriverException.InvalidRequest.class, () -> new DatasetName("01234567").among(KNOWN));
        assertTrue(thrown.getMessage().contains(ONE.hex() + ", " + LIKE_ONE.hex()), thrown.getMessage());
    }

    @Test
    void whatTheNodeDoesNotKnowIsNotFound() {
        var thrown = assertThrows(DriverException.NotFound.class, () -> new DatasetName("89abcdef").among(KNOWN));
        assertTrue(thrown.getMessage().contains("siphon cache list"), thrown.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0123456", "0123456g", "0123ABCD", "01234567\n", " 01234567", "../../../etc"})
    void anythingElseIsNoName(String text) {
        assertThrows(DriverException.InvalidRequest.class, () -> new DatasetName(text));
    }

    @Test
    void moreDigitsThanADigestHasAreNoName() {
        assertThrows(DriverException.InvalidRequest.class, () -> new DatasetName(ONE.hex() + "0"));
    }
}
