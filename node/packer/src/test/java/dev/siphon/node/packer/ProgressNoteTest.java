package dev.siphon.node.packer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ProgressNoteTest {
    @TempDir
    private Path folder = Path.of("");

    @Test
    void theLastProgressIsAnAttributeOfTheDirectory() throws IOException {
        ProgressNote note = new ProgressNote(folder);
        note.write(1, -1, 0, -1);
        note.write(300, 1000, 50, 14);
        byte[] written = (byte[]) Files.getAttribute(folder, "user:siphon.fetched");
        assertEquals("300 1000 50 14", new String(written, StandardCharsets.US_ASCII));
    }

    @Test
    void aDirectoryThatIsGoneStopsNoFetch() {
        Path gone = folder.resolve("gone");
        new ProgressNote(gone).write(1, 2, 3, 4);
    }
}
