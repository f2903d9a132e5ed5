package dev.siphon.node.unpack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.node.fetch.AddressRules;
import dev.siphon.node.fetch.BucketKey;
import dev.siphon.node.fetch.BucketLocation;
import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.fetch.FetchFailure.Reason;
import dev.siphon.node.fetch.WebAddress;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.gaul.s3proxy.S3Proxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Objects of S3Proxy.
final class BucketFetchTest {
    private static final String ACCESS = "alice";
    private static final String SECRET = "s3cret/+key";

    private final Fetching fetching = new Fetching();
    private final Path objects = fetching.directory("objects");
    private final S3Proxy server = S3Server.of(objects, ACCESS, SECRET)
            .endpoint(URI.create("http://127.0.0.1:0"))
            .build();

    @BeforeEach
    void start() throws Exception {
        Files.createDirectory(objects.resolve("bucket"));
        server.start();
    }

    @AfterEach
    void stop() throws Exception {
        server.stop();
        fetching.close();
    }

    private void put(String key, String content) throws IOException {
        Path file = objects.resolve("bucket").resolve(key);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
    }

    private FetchSource source(String prefix, String secret, AddressRules rules) {
        return new FetchSource.Objects(new BucketLocation(
                WebAddress.parse("http://127.0.0.1:" + server.getPort()),
                "bucket",
                prefix,
                "us-east-1",
                new BucketKey.Signed(ACCESS, secret, ""),
                rules));
    }

    private FetchSource source(String prefix) {
        return source(prefix, SECRET, Fetching.LOOPBACK);
    }

    private Reason refused(FetchSource source) {
        FetchFailure failure = assertThrows(FetchFailure.class, () -> fetching.fetch(source));
        assertFalse(failure.getMessage().contains(SECRET), failure.getMessage());
        assertFalse(Files.exists(fetching.into().resolve("data")));
        return failure.reason();
    }

    @Test
    void objectsBecomeFiles() throws IOException {
        put("set/a/b/f", "content");
        put("set/a name+with%20 \u00fc", "x".repeat(3_000_000));
        put("set/empty", "");
        put("set2/other", "not of it");
        TreeFetch.Result result = fetching.fetch(source("set/"));
        assertEquals(
                new TreeMap<>(Map.of(
                        "a", "d",
                        "a/b", "d",
                        "a/b/f", "content",
                        "a name+with%20 \u00fc", "x".repeat(3_000_000),
                        "empty", "")),
                fetching.tree());
        assertEquals(3_000_007, result.bytes());
        fetching.assertNothingLeft();
    }

    @Test
    void listsHaveMoreThanOnePage() throws IOException {
        for (int i = 0; i < 1100; i++) {
            put("set/" + i / 100 + "/" + i, "x");
        }
        fetching.maxFiles = 1000;
        assertEquals(Reason.TOO_MANY_FILES, refused(source("set")));
        fetching.maxFiles = 2000;
        assertEquals(1100, fetching.fetch(source("set")).bytes());
    }

    @Test
    void anObjectIsAFolderOfOne() throws IOException {
        put("set/one", "x");
        fetching.fetch(source("set/one"));
        assertEquals(Map.of("one", "x"), fetching.tree());
    }

    @Test
    void objectsOfAnEarlierRunStay() throws IOException {
        put("set/f", "content");
        put("set/g", "x");
        Path tree = Files.createDirectories(fetching.into().resolve(".siphon-fetch/tree"));
        Files.writeString(tree.resolve("f"), "earlier");
        Files.writeString(tree.resolve("g"), "half of it");
        Path object = objects.resolve("bucket/set/f");
        for (Path each : List.of(object, tree.resolve("f"))) {
            Files.setLastModifiedTime(each, java.nio.file.attribute.FileTime.fromMillis(1_700_000_000_000L));
        }
        fetching.fetch(source("set"));
        assertEquals(Map.of("f", "earlier", "g", "x"), fetching.tree());
    }

    @Test
    void wrongKeysAndPlacesAreSaid() throws IOException {
        put("set/f", "x");
        assertEquals(Reason.WRONG_KEY, refused(source("set", "another", Fetching.LOOPBACK)));
        assertEquals(Reason.NOT_FOUND, refused(source("nothing")));
        assertEquals(Reason.FORBIDDEN_ADDRESS, refused(source("set", SECRET, new AddressRules(false, List.of()))));
    }

    @Test
    void tooMuchIsRefused() throws IOException {
        put("set/f", "x".repeat(1000));
        fetching.maxBytes = 999;
        assertEquals(Reason.TOO_LARGE, refused(source("set")));
    }

    @Test
    void aKeyNeverShows() {
        assertTrue(new BucketKey.Signed(ACCESS, SECRET, "").toString().equals("***"));
    }
}
