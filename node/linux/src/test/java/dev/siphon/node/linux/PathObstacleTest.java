package dev.siphon.node.linux;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PathObstacleTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // set by JUnit
    Path directory;

    private static void describes(Path path, Path part, String what) {
        String said = PathObstacle.describe(path.toString());
        assertTrue(said.contains(part + "\"") && said.contains(what), said);
    }

    @Test
    void thePartThatIsALinkIsNamed() throws IOException {
        Path link = Files.createSymbolicLink(directory.resolve("link"), Path.of("/tmp"));
        describes(link, link, "symbolic link");
        describes(link.resolve("a/b"), link, "symbolic link");
    }

    @Test
    void thePartThatIsAFileOrMissingIsNamed() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "x");
        describes(file.resolve("a"), file, "not a directory");
        Path none = directory.resolve("none");
        describes(none.resolve("a/b"), none, "No such file");
    }

    @Test
    void aPathThatIsFineByNowIsSaidToHaveChanged() {
        describes(directory, directory, "changed meanwhile");
    }
}
