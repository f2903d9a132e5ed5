package dev.siphon.node.unpack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.fetch.AddressRange;
import dev.siphon.node.fetch.AddressRules;
import dev.siphon.node.fetch.Authorization;
import dev.siphon.node.fetch.Download;
import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.fetch.FetchLimits;
import dev.siphon.node.fetch.FileServer;
import dev.siphon.node.fetch.WebAddress;
import dev.siphon.node.linux.Workplace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/// Fetches into a directory of its own, from servers on this machine.
final class Fetching implements AutoCloseable {
    static final AddressRules LOOPBACK = new AddressRules(false, List.of(AddressRange.parse("127.0.0.0/8")));
    static final FetchLimits SHORT =
            new FetchLimits(Duration.ofSeconds(5), Duration.ofMillis(500), 3, Duration.ofMillis(1), 0);

    static final TreeListener IGNORED = new TreeListener() {
        @Override
        public void begin(String name, long totalBytes) {}

        @Override
        public void downloaded(long bytes, long totalBytes) {}

        @Override
        public void wrote(long bytes, long files) {}
    };

    private final Workplace place = Workplace.create();
    private final Path into = place.directory("into");
    long maxBytes = Long.MAX_VALUE;
    long maxFiles = 1000;

    Path into() {
        return into;
    }

    Path directory(String name) {
        return place.directory(name);
    }

    TreeFetch.Result fetch(FetchSource source) {
        return fetch(source, IGNORED);
    }

    TreeFetch.Result fetch(FetchSource source, TreeListener listener) {
        return new TreeFetch(new FetchRequest(source, into, maxBytes, maxFiles, SHORT), listener).run();
    }

    static FetchSource at(FileServer server, String path, byte[] content) {
        return new FetchSource.Web(new Download.Source(
                WebAddress.parse(server.address(path)),
                List.of(Digest.of(ByteBuffer.wrap(content))),
                Authorization.NONE,
                LOOPBACK));
    }

    /// Fetches `content` from a server, as a file with the name `file`.
    TreeFetch.Result fetch(byte[] content) {
        return fetch("/file", content);
    }

    TreeFetch.Result fetch(String path, byte[] content) {
        try (FileServer server = new FileServer(content)) {
            return fetch(at(server, path, content));
        }
    }

    /// Checks that `content` is refused, and that there is no tree.
    String assertRefused(FetchFailure.Reason reason, byte[] content) {
        return assertRefused(reason, "/file", content);
    }

    String assertRefused(FetchFailure.Reason reason, String path, byte[] content) {
        FetchFailure failure = assertThrows(FetchFailure.class, () -> fetch(path, content));
        assertEquals(reason, failure.reason(), failure.getMessage());
        assertFalse(Files.exists(into.resolve("data")));
        return failure.getMessage();
    }

    /// Returns the tree: directories as `d`, symbolic links as their targets, files as their bytes in ISO 8859-1.
    SortedMap<String, String> tree() {
        assertFalse(Files.exists(into.resolve(".siphon-fetch")));
        return tree(into.resolve("data"));
    }

    static SortedMap<String, String> tree(Path root) {
        SortedMap<String, String> found = new TreeMap<>();
        try (Stream<Path> paths = Files.walk(root)) {
            for (Path path : paths.filter(each -> !each.equals(root)).toList()) {
                found.put(root.relativize(path).toString(), text(path));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found;
    }

    private static String text(Path path) throws IOException {
        if (Files.isSymbolicLink(path)) {
            return "-> " + Files.readSymbolicLink(path);
        }
        return Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)
                ? "d"
                : Files.readString(path, StandardCharsets.ISO_8859_1);
    }

    /// Checks that nothing but the tree is there.
    void assertNothingLeft() {
        try (Stream<Path> left = Files.list(into)) {
            assertTrue(left.allMatch(each -> each.endsWith("data")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        place.close();
    }
}
