package dev.siphon.csi.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.csi.DriverException;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SealedSecretTest {
    private static final String SECRET = "AQBdF2FlAAAAABAAjAnnpZ9Yw8bGaf7PPUCYAg==";

    private final SealedSecret.Reader reader = new SealedSecret.Reader();

    @Test
    void itsReaderAloneOpensItForWhatItIsAbout() {
        String sealed = SealedSecret.seal(reader.publicKey(), SECRET, "volume a");
        assertFalse(sealed.contains(SECRET));
        assertEquals(SECRET, reader.open(sealed, "volume a"));
        assertThrows(DriverException.BackendFault.class, () -> reader.open(sealed, "volume b"));
        SealedSecret.Reader other = new SealedSecret.Reader();
        assertThrows(DriverException.BackendFault.class, () -> other.open(sealed, "volume a"));
        assertNotEquals(sealed, SealedSecret.seal(reader.publicKey(), SECRET, "volume a"), "each has a key of its own");
    }

    @Test
    void whatWasChangedOnTheWayIsNotOpened() {
        byte[] sealed = Base64.getDecoder().decode(SealedSecret.seal(reader.publicKey(), SECRET, "a"));
        for (int at : new int[] {0, 31, 32, sealed.length - 1}) {
            byte[] changed = sealed.clone();
            changed[at] ^= 1;
            String text = Base64.getEncoder().encodeToString(changed);
            assertThrows(DriverException.BackendFault.class, () -> reader.open(text, "a"), "byte " + at);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "AAAA", "no base64", "MCowBQYDK2VuAyEA"})
    void whatIsNoneIsRefused(String text) {
        assertThrows(DriverException.BackendFault.class, () -> reader.open(text, "a"));
        assertThrows(DriverException.InvalidRequest.class, () -> SealedSecret.seal(text, SECRET, "a"));
    }
}
