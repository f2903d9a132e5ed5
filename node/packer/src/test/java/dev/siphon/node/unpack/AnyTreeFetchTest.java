package dev.siphon.node.unpack;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.node.tar.TarWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/// For any tree, a tar and a zip of it become the same tree.
final class AnyTreeFetchTest {
    private static final int TRIES = 20;

    /// Paths of files, no one below another, with their contents.
    @Provide
    Arbitrary<SortedMap<String, String>> trees() {
        Arbitrary<String> paths = Arbitraries.strings()
                .withCharRange('a', 'c')
                .ofMinLength(1)
                .ofMaxLength(3)
                .list()
                .ofMinSize(1)
                .ofMaxSize(4)
                .map(parts -> String.join("/", parts));
        Arbitrary<String> contents = Arbitraries.strings().ascii().ofMaxLength(2000);
        return Arbitraries.maps(paths, contents).ofMaxSize(30).map(AnyTreeFetchTest::withoutConflicts);
    }

    private static SortedMap<String, String> withoutConflicts(Map<String, String> files) {
        SortedMap<String, String> tree = new TreeMap<>();
        files.forEach((path, content) -> {
            if (files.keySet().stream().noneMatch(other -> other.startsWith(path + "/"))) {
                tree.put(path, content);
            }
        });
        return tree;
    }

    private static SortedMap<String, String> withDirectories(SortedMap<String, String> files) {
        SortedMap<String, String> tree = new TreeMap<>(files);
        for (String path : files.keySet()) {
            for (int slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
                tree.put(path.substring(0, slash), "d");
            }
        }
        return tree;
    }

    @Property(tries = TRIES)
    void aTarBecomesTheTree(@ForAll("trees") SortedMap<String, String> files) {
        TarWriter tar = new TarWriter().file("first", "so that it is a tar");
        files.forEach((path, content) -> tar.with('0', path, "", content.getBytes(StandardCharsets.ISO_8859_1)));
        SortedMap<String, String> expected = withDirectories(files);
        expected.put("first", "so that it is a tar");
        assertFetched(expected, tar.end());
    }

    @Property(tries = TRIES)
    void aZipBecomesTheTree(@ForAll("trees") SortedMap<String, String> files) {
        List<String> entries = new ArrayList<>(List.of("first", "so that there is one"));
        files.forEach((path, content) -> entries.addAll(List.of(path, content)));
        SortedMap<String, String> expected = withDirectories(files);
        expected.put("first", "so that there is one");
        assertFetched(expected, ZipFetchTest.zip(entries.toArray(String[]::new)));
    }

    private static void assertFetched(SortedMap<String, String> expected, byte[] archive) {
        try (Fetching fetching = new Fetching()) {
            fetching.fetch(archive);
            assertEquals(expected, fetching.tree());
        }
    }
}
