package dev.siphon.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SecretsFileTest {
    private static final Map<String, String> SECRETS = Map.of("userID", "u1", "userKey", "AQB1: x==");

    @TempDir
    private Path dir;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"userID\": \"u1\", \"userKey\": \"AQB1: x==\"}",
                "\n {\"userKey\": \"AQB1: x==\", \"userID\": \"u1\"}\n",
                "userID: u1\nuserKey: AQB1: x==\n",
                "---\n# comment\nuserID:   u1  \n\nuserKey: \"AQB1: x==\"",
                "userID: 'u1'\nuserKey: 'AQB1: x=='"
            })
    void bothFormsAreRead(String text) throws IOException {
        assertEquals(SECRETS, read(text));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"userKey\": \"AQB1\"",
                "{\"userKey\": {\"nested\": \"AQB1\"}}",
                "userKey: a\n  nested: AQB1",
                "AQB1",
                "- AQB1",
                ": AQB1"
            })
    void anyOtherIsRefusedWithoutShowingIt(String text) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> read(text));
        assertFalse(String.valueOf(e.getMessage()).contains("AQB1"), e.getMessage());
        assertFalse(String.valueOf(e.getCause()).contains("AQB1"));
    }

    @Test
    void aFileThatIsNotThereIsNamed() {
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> SecretsFile.read(dir.resolve("none")));
        assertEquals(true, String.valueOf(e.getMessage()).contains("none"));
    }

    private Map<String, String> read(String text) throws IOException {
        return SecretsFile.read(Files.writeString(dir.resolve("secrets"), text));
    }
}
