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

final class EncryptedSecretTest {
    private static final String SECRET = "AQBdF2FlAAAAABAAjAnnpZ9Yw8bGaf7PPUCYAg==";

    private final EncryptedSecret.Reader reader = new EncryptedSecret.Reader();

    @Test
    void itsReaderAloneOpensItForWhatItIsAbout() {
        String encrypted = EncryptedSecret.encrypt(reader.publicKey(), SECRET, "volume a");
        assertFalse(encrypted.contains(SECRET));
        assertEquals(SECRET, reader.decrypt(encrypted, "volume a"));
        assertThrows(DriverException.BackendFault.class, () -> reader.decrypt(encrypted, "volume b"));
        EncryptedSecret.Reader other = new EncryptedSecret.Reader();
        assertThrows(DriverException.BackendFault.class, () -> other.decrypt(encrypted, "volume a"));
        assertNotEquals(
                encrypted,
                EncryptedSecret.encrypt(reader.publicKey(), SECRET, "volume a"),
                "each has a key of its own");
    }

    @Test
    void whatWasChangedOnTheWayIsNotOpened() {
        byte[] encrypted = Base64.getDecoder().decode(EncryptedSecret.encrypt(reader.publicKey(), SECRET, "a"));
        for (int at : new int[] {0, 31, 32, encrypted.length - 1}) {
            byte[] changed = encrypted.clone();
            changed[at] ^= 1;
            String text = Base64.getEncoder().encodeToString(changed);
            assertThrows(DriverException.BackendFault.class, () -> reader.decrypt(text, "a"), "byte " + at);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "AAAA", "no base64", "MCowBQYDK2VuAyEA"})
    void whatIsNoneIsRefused(String text) {
        assertThrows(DriverException.BackendFault.class, () -> reader.decrypt(text, "a"));
        assertThrows(DriverException.InvalidRequest.class, () -> EncryptedSecret.encrypt(text, SECRET, "a"));
    }
}
