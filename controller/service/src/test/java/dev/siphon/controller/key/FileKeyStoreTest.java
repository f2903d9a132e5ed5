package dev.siphon.controller.key;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FileKeyStoreTest extends KeyStoreContract {
    @TempDir
    private Path folder = Path.of("");

    @Override
    protected FileKeyStore open() {
        return new FileKeyStore(folder);
    }

    @BeforeEach
    void closeToOthers() throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
    }

    @Test
    void aKeyIsAFileThatNobodyElseMayRead() throws IOException {
        open().put(VOLUME, key(VOLUME, "first"));
        open().put(VOLUME, key(VOLUME, "second"));
        Path file = folder.resolve(VOLUME + ".json");
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertEquals(1, filesIn(folder), "nothing beside it");
        assertTrue(Files.readString(file).contains("\"volumeID\":\"" + VOLUME + "\""), "a node can compare it");
        open().remove(VOLUME);
        assertEquals(0, filesIn(folder));
    }

    @Test
    void aFileOfBeforeThatNamesNoVolumeIsAKey() throws IOException {
        Files.writeString(folder.resolve(VOLUME + ".json"), "{\"userID\": \"u\", \"userKey\": \"k\"}\n");
        assertEquals("k", open().find(VOLUME).orElseThrow().secret());
    }

    @Test
    void aBrokenFileIsNoKeyAndIsReplaced() throws IOException {
        Files.writeString(folder.resolve(VOLUME + ".json"), "{\"userID\": ");
        assertEquals(Optional.empty(), open().find(VOLUME));
        for (String broken : List.of("{}", "[]", "null", "{\"userID\": {}, \"userKey\": []}")) {
            Files.writeString(folder.resolve(VOLUME + ".json"), broken);
            assertEquals(Optional.empty(), open().find(VOLUME), broken);
        }
        open().put(VOLUME, new VolumeKey("siphon.a1.v1", "new"));
        assertEquals("new", open().find(VOLUME).orElseThrow().secret());
    }

    @Test
    void aFolderThatOthersMayEnterIsRefused() throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-x---"));
        assertThrows(IllegalArgumentException.class, this::open);
        assertThrows(IllegalArgumentException.class, () -> new FileKeyStore(folder.resolve("missing")));
    }

    @Test
    void noMessageHoldsASecret() {
        assertFalse(new VolumeKey("siphon.a1.v1", "sesame").toString().contains("sesame"));
    }

    private static long filesIn(Path folder) throws IOException {
        try (var files = Files.list(folder)) {
            return files.count();
        }
    }
}
