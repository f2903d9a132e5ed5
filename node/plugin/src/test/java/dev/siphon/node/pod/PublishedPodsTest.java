package dev.siphon.node.pod;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.node.mount.TargetPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PublishedPodsTest {
    private static final Pod POD = new Pod("u1", "train", "1");
    private static final Pod OTHER = new Pod("u1", "train", "2");

    @TempDir
    private Path folder;

    private Path kept = Path.of("/");
    private TargetPath target = TargetPath.parse("target_path", "/not/yet");

    @BeforeEach
    void makeTarget() throws IOException {
        kept = folder.resolve("pods");
        Files.createDirectories(folder.resolve("volume"));
        target = TargetPath.parse("target_path", folder.resolve("volume/mount").toString());
    }

    private PublishedPods pods() {
        return new PublishedPods(kept);
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(kept)) {
            return files.toList();
        }
    }

    @Test
    void aProcessThatStartsLaterKnowsThePod() throws IOException {
        assertEquals(Optional.empty(), pods().at(target));
        pods().put(target, POD);
        assertEquals(Optional.of(POD), pods().at(target));
        pods().put(target, OTHER);
        assertEquals(Optional.of(OTHER), pods().at(target));
        pods().sweep();
        assertEquals(Optional.of(OTHER), pods().at(target));
        pods().remove(target);
        pods().remove(target);
        assertEquals(Optional.empty(), pods().at(target));
        assertEquals(List.of(), files());
    }

    @Test
    void whatIsGoneIsForgotten() throws IOException {
        pods().put(target, POD);
        Files.delete(folder.resolve("volume"));
        pods().sweep();
        assertEquals(List.of(), files());
    }

    @Test
    void whatIsBrokenIsNobodysAndForgotten() throws IOException {
        pods().put(target, POD);
        Path file = files().getFirst();
        for (byte[] broken : List.of(new byte[0], new byte[] {(byte) 0xff, 10}, new byte[1 << 20])) {
            Files.write(file, broken);
            assertEquals(Optional.empty(), pods().at(target));
        }
        pods().sweep();
        assertEquals(List.of(), files());
    }

    @Test
    void aFolderThatCannotBeMadeStopsNobody() throws IOException {
        Files.writeString(kept, "a file");
        pods().put(target, POD);
        assertEquals(Optional.empty(), pods().at(target));
        pods().remove(target);
        pods().sweep();
        assertEquals("a file", Files.readString(kept));
    }
}
