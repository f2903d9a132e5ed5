package dev.siphon.node.unpack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.fetch.FetchFailure.Reason;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A directory, copied as an account.
final class FolderFetchTest {
    private final Fetching fetching = new Fetching();
    private final Path from = fetching.directory("from");

    @BeforeEach
    void fill() throws IOException {
        Files.createDirectories(from.resolve("a/b"));
        Files.writeString(from.resolve("a/b/f"), "content");
        Files.writeString(from.resolve("empty"), "");
        Files.createSymbolicLink(from.resolve("a/link"), Path.of("../empty"));
    }

    @AfterEach
    void close() {
        fetching.close();
    }

    private FetchFailure refused() {
        return assertThrows(FetchFailure.class, () -> fetching.fetch(new FetchSource.Folder(from)));
    }

    @Test
    void itIsCopied() {
        TreeFetch.Result result = fetching.fetch(new FetchSource.Folder(from));
        assertEquals(Fetching.tree(from), fetching.tree());
        assertEquals(new TreeFetch.Result(7, 5), result);
    }

    @Test
    void filesOfAnEarlierRunStay() throws IOException {
        Path tree = Files.createDirectories(fetching.into().resolve(".siphon-fetch/tree/a/b"));
        Files.writeString(tree.resolve("f"), "earlier");
        Files.setLastModifiedTime(tree.resolve("f"), Files.getLastModifiedTime(from.resolve("a/b/f")));
        Files.writeString(fetching.into().resolve(".siphon-fetch/tree/empty"), "half");
        fetching.fetch(new FetchSource.Folder(from));
        assertEquals(
                new TreeMap<>(Map.of("a", "d", "a/b", "d", "a/b/f", "earlier", "empty", "", "a/link", "-> ../empty")),
                fetching.tree());
    }

    @Test
    void aFileOfAnotherTimeIsCopiedAgain() throws IOException {
        Path tree = Files.createDirectories(fetching.into().resolve(".siphon-fetch/tree/a/b"));
        Files.writeString(tree.resolve("f"), "earlier");
        Files.setLastModifiedTime(tree.resolve("f"), FileTime.fromMillis(5));
        fetching.fetch(new FetchSource.Folder(from));
        assertEquals("content", Files.readString(fetching.into().resolve("data/a/b/f"), StandardCharsets.UTF_8));
    }

    @Test
    void whatLeavesItIsRefused() throws IOException {
        Files.createSymbolicLink(from.resolve("bad"), Path.of("/etc"));
        assertEquals(Reason.UNSAFE_ARCHIVE, refused().reason());
        Files.delete(from.resolve("bad"));
        Files.createSymbolicLink(from.resolve("a/b/bad"), Path.of("../../../x"));
        assertEquals(Reason.UNSAFE_ARCHIVE, refused().reason());
    }

    @Test
    void anotherFolderIsNotFound() {
        FetchFailure failure =
                assertThrows(FetchFailure.class, () -> fetching.fetch(new FetchSource.Folder(from.resolve("missing"))));
        assertEquals(Reason.NOT_FOUND, failure.reason());
    }

    @Test
    void aLinkInTheWayOfTheTreeIsReplaced() throws IOException {
        Path outside = fetching.directory("outside");
        Path tree = Files.createDirectories(fetching.into().resolve(".siphon-fetch/tree"));
        Files.createSymbolicLink(tree.resolve("a"), outside);
        fetching.fetch(new FetchSource.Folder(from));
        assertEquals(Map.of(), Fetching.tree(outside));
        assertEquals(Fetching.tree(from), fetching.tree());
    }
}
