package dev.siphon.node.fetch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.fetch.FileServer.Answer;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class DownloadTest {
    private static final int BYTES = 300_000;
    private static final FetchLimits SHORT =
            new FetchLimits(Duration.ofSeconds(5), Duration.ofMillis(500), 3, Duration.ofMillis(1), 0);

    private final byte[] content = random(1);
    private final FileServer server = new FileServer(content);
    private final FetchedInMemory file = new FetchedInMemory();

    @AfterEach
    void close() {
        server.close();
    }

    private static byte[] random(long seed) {
        byte[] bytes = new byte[BYTES];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static Digest digest(byte[] of) {
        return Digest.of(ByteBuffer.wrap(of));
    }

    private void fetch(String path, byte[] expected) {
        download(Download.Source.of(WebAddress.parse(server.address(path)), digest(expected)));
    }

    private void download(Download.Source source) {
        new Download(source, file, SHORT, (_, _) -> {}).run();
    }

    private void assertFetched(byte[] expected, String... ranges) {
        fetch("/file", expected);
        assertArrayEquals(expected, file.bytes.toByteArray());
        assertEquals(List.of(ranges), server.ranges());
    }

    @Test
    void whatIsThereIsNotAskedForAgain() {
        assertFetched(content, "all");
        assertFetched(content, "all");
    }

    @Test
    void aCutConnectionIsGoneOnWith() {
        server.then(Answer.CUT, Answer.CUT);
        assertFetched(content, "all", "bytes=150000-", "bytes=225000-");
    }

    @Test
    void aServerThatIsBusyOrStallsIsAskedAgain() {
        server.then(Answer.BUSY, Answer.STALL);
        assertFetched(content, "all", "all", "bytes=150000-");
    }

    @Test
    void aServerThatIgnoresRangesSendsAllAgain() {
        server.then(Answer.CUT, Answer.ALL);
        assertFetched(content, "all", "bytes=150000-");
    }

    @Test
    void anotherRangeThanWasAskedForIsNotTaken() {
        server.then(Answer.CUT, Answer.WRONG_RANGE);
        assertFetched(content, "all", "bytes=150000-", "all");
    }

    @Test
    void anotherVersionIsBegunAgain() {
        byte[] other = random(2);
        server.then(Answer.HALF_THEN_TELL).whenHalfIsSent(it -> it.change(other, "\"2\""));
        assertFetched(other, "all", "bytes=150000-");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "W/\"weak\""})
    void whatCannotBeToldApartIsBegunAgain(String tag) {
        server.change(content, tag);
        server.then(Answer.CUT);
        assertFetched(content, "all", "all");
    }

    @Test
    void anEarlierProcessIsFollowedAndNotBelieved() {
        file.begin("\"1\"");
        file.append(ByteBuffer.wrap(content, 0, 1000));
        assertFetched(content, "bytes=1000-");
        file.begin("\"1\"");
        file.append(ByteBuffer.wrap(random(3), 0, 1000));
        assertFetched(content, "bytes=1000-", "bytes=1000-", "all");
    }

    @Test
    void anotherDigestLeavesNothing() {
        String message = assertThrows(FetchFailure.class, () -> fetch("/file", random(2)))
                .getMessage();
        assertTrue(
                message.contains(digest(content).hex())
                        && message.contains(digest(random(2)).hex()),
                message);
        assertEquals(0, file.length());
    }

    @Test
    void itIsGivenUpWhenNothingComesOfIt() {
        server.then(Answer.CUT, Answer.BUSY, Answer.BUSY, Answer.BUSY);
        assertThrows(DriverException.BackendUnavailable.class, () -> fetch("/file", content));
        assertEquals(150_000, file.length());
        fetch("/file", content);
    }

    @Test
    void withoutRoomNothingIsFetched() {
        file.room = BYTES - 1;
        assertThrows(DriverException.QuotaExhausted.class, () -> fetch("/file", content));
        assertEquals(0, file.length());
    }

    @Test
    void redirectsAreFollowedWithinReason() {
        fetch("/moved", content);
        assertArrayEquals(content, file.bytes.toByteArray());
        byte[] none = Arrays.copyOf(content, 1);
        assertThrows(DriverException.BackendFault.class, () -> fetch("/round", none));
        assertThrows(DriverException.InvalidRequest.class, () -> fetch("/elsewhere", none));
        assertThrows(DriverException.NotFound.class, () -> fetch("/gone", none));
        assertThrows(DriverException.AccessDenied.class, () -> fetch("/refused", none));
    }

    private void limited(String path, Authorization key, String... allowed) {
        AddressRules rules = new AddressRules(
                false, Stream.of(allowed).map(AddressRange::parse).toList());
        download(new Download.Source(WebAddress.parse(server.address(path)), List.of(digest(content)), key, rules));
    }

    private void assertForbidden(String path, String... allowed) {
        FetchFailure failure = assertThrows(FetchFailure.class, () -> limited(path, Authorization.NONE, allowed));
        assertEquals(FetchFailure.Reason.FORBIDDEN_ADDRESS, failure.reason());
    }

    @Test
    void privateAddressesAreAskedOnlyIfAllowed() {
        assertForbidden("/file");
        assertForbidden("/file", "127.0.0.2/32", "10.0.0.0/8");
        assertEquals(List.of(), server.ranges());
        limited("/file", Authorization.NONE, "127.0.0.1/32");
        assertArrayEquals(content, file.bytes.toByteArray());
    }

    @Test
    void redirectsToPrivateAddressesAreNotFollowed() {
        assertForbidden("/away", "127.0.0.1/32");
        limited("/other", Authorization.NONE, "127.0.0.0/30");
        assertArrayEquals(content, file.bytes.toByteArray());
    }

    @Test
    void anotherHostDoesNotGetTheKey() {
        limited("/moved", Authorization.bearer("s3cret"), "127.0.0.0/8");
        file.begin("");
        limited("/other", Authorization.basic("alice", "s3cret"), "127.0.0.0/8");
        assertEquals(List.of("Bearer s3cret", "none"), server.keys());
    }

    @Test
    void aServerThatTricklesIsRefused() {
        server.then(Answer.TRICKLE);
        FetchFailure failure = assertThrows(
                FetchFailure.class,
                () -> new Download(
                                Download.Source.of(WebAddress.parse(server.address("/file")), digest(content)),
                                file,
                                SHORT.withMinBytesPerSecond(1000),
                                (_, _) -> {})
                        .run());
        assertEquals(FetchFailure.Reason.TOO_SLOW, failure.reason());
    }

    @Test
    void noAddressGivesAwayASecret() {
        for (String text : List.of(
                "ftp://h/f",
                "http:///f",
                "https://u:s3cret@h/f",
                "http://u@h/f",
                "file:///f",
                "http://h:65536/f?s3cret")) {
            String message = assertThrows(DriverException.InvalidRequest.class, () -> WebAddress.parse(text))
                    .getMessage();
            assertFalse(message.contains("s3cret"), message);
        }
        WebAddress address = WebAddress.parse("https://h:1/f?token=s3cret");
        assertEquals("\"https://h:1/f\"", address.toString());
        assertThrows(DriverException.AccessDenied.class, () -> address.redirected("http://h/f"));
        assertThrows(DriverException.InvalidRequest.class, () -> address.redirected("//u:p@h/f"));
        assertEquals("\"https://h:1/g\"", address.redirected("g").shown());
        assertTrue(WebAddress.looksLike("ftp://h") && !WebAddress.looksLike("a/b"));
    }
}
