package dev.siphon.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.server.StartFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class StateDirectoryTest {
    @TempDir
    Path place;

    /// Returns whether flock(1) could take the lock in another process.
    private boolean isFree() throws IOException, InterruptedException {
        return new ProcessBuilder("flock", "--nonblock", place + "/state/lock", "true")
                        .start()
                        .waitFor()
                == 0;
    }

    @Test
    void oneProcessHasItUntilItLetsGo() throws IOException, InterruptedException {
        try (StateDirectory taken = StateDirectory.take(place.resolve("state"))) {
            assertEquals(place.toRealPath().resolve("state"), taken.path());
            StartFailure refused = assertThrows(StartFailure.class, () -> StateDirectory.take(place.resolve("state")));
            assertTrue(String.valueOf(refused.getMessage()).contains("is in use by another process"));
            // as code that copies or searches the directory does within this process
            assertEquals(0, Files.readAllBytes(place.resolve("state/lock")).length);
            assertEquals(false, isFree());
        }
        assertTrue(isFree());
        StateDirectory.take(place.resolve("state")).close();
    }

    @Test
    void whatIsNoDirectoryIsRefused() throws IOException {
        Path file = Files.createFile(place.resolve("file"));
        assertThrows(StartFailure.class, () -> StateDirectory.take(file));
    }
}
