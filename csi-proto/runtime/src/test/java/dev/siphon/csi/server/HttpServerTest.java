package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.google.gson.JsonObject;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.server.HttpCall.Reply;
import dev.siphon.csi.server.SocketHttp.Answer;
import java.io.IOException;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

final class HttpServerTest {
    private static final String TOKEN = "0123456789abcdef0123456789abcdef";

    @TempDir
    private Path dir;

    private Path socket() {
        return dir.resolve("http.sock");
    }

    private HttpServer serve(HttpCall.Pages pages) {
        return HttpServer.startForRoot(new UnixEndpoint(socket()), pages);
    }

    /// Returns the request as JSON.
    private static Reply echo(HttpCall call) {
        JsonObject body = new JsonObject();
        body.addProperty("asked", call.method() + " " + call.path() + " " + call.parameters());
        return Reply.json(202, body);
    }

    @Test
    void aRequestIsTakenApartAndAnswered() throws Exception {
        try (HttpServer _ = serve(HttpServerTest::echo)) {
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(socket())));
            Answer answer = SocketHttp.ask(socket(), "POST", "/v1/u1%2Fa/b?wait=3&wait=4&x=%20");
            assertEquals(202, answer.status());
            String asked = answer.json().get("asked").getAsString();
            assertTrue(asked.startsWith("POST [v1, u1, a, b] {"), asked);
            assertTrue(asked.contains("wait=4") && asked.contains("x= "), asked);
        }
        assertFalse(Files.exists(socket()));
    }

    @Test
    void theLogHasNoQuery() throws Exception {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger(HttpConnection.class);
        log.start();
        logger.addAppender(log);
        try (HttpServer _ = serve(HttpServerTest::echo)) {
            var _ = SocketHttp.ask(socket(), "GET", "/v1/datasets?token=" + TOKEN);
        } finally {
            logger.detachAppender(log);
        }
        String said = log.list.getFirst().getKeyValuePairs().toString();
        assertTrue(said.contains("path=\"/v1/datasets\""), said);
        assertFalse(said.contains(TOKEN), said);
    }

    @ParameterizedTest
    @CsvSource({
        "invalid, 400, INVALID_ARGUMENT",
        "missing, 404, NOT_FOUND",
        "denied, 403, PERMISSION_DENIED",
        "used, 409, FAILED_PRECONDITION",
        "pending, 409, ABORTED",
        "full, 507, RESOURCE_EXHAUSTED",
        "hung, 504, DEADLINE_EXCEEDED",
        "away, 503, UNAVAILABLE",
    })
    void anErrorIsAStatusThatFitsAndSaysWhatIsWrong(String what, int status, String code) {
        try (HttpServer _ = serve(_ -> {
            throw failure(what);
        })) {
            Answer answer = SocketHttp.ask(socket(), "GET", "/");
            assertEquals(status, answer.status());
            assertEquals(code, answer.json().get("code").getAsString());
            assertEquals("it is " + what, answer.json().get("message").getAsString());
        }
    }

    private static DriverException failure(String what) {
        String message = "it is " + what;
        return switch (what) {
            case "invalid" -> new DriverException.InvalidRequest(message);
            case "missing" -> new DriverException.NotFound(message);
            case "denied" -> new DriverException.AccessDenied(message);
            case "used" -> new DriverException.InUse(message);
            case "pending" -> new DriverException.OperationPending(message);
            case "full" -> new DriverException.QuotaExhausted(message);
            case "hung" -> new DriverException.DeadlinePassed(message);
            default -> new DriverException.BackendUnavailable(message);
        };
    }

    @Test
    void aBugSaysNothingOfWhatIsInside() {
        try (HttpServer _ = serve(_ -> {
            throw new IllegalStateException("the inside");
        })) {
            Answer answer = SocketHttp.ask(socket(), "GET", "/");
            assertEquals(500, answer.status());
            assertFalse(answer.body().contains("the inside"), answer.body());
            assertTrue(answer.body().contains("incident"), answer.body());
        }
    }

    @Test
    void whatIsNoRequestIsRefusedAndTheNextOneAnswered() {
        try (HttpServer _ = serve(HttpServerTest::echo)) {
            assertEquals(
                    400, SocketHttp.send(socket(), "no HTTP at all\r\n\r\n").status());
            assertEquals(400, SocketHttp.ask(socket(), "GET", "/%zz").status());
            assertEquals(
                    413,
                    SocketHttp.send(
                                    socket(),
                                    "POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: 99999999\r\n\r\n")
                            .status());
            assertEquals(202, SocketHttp.ask(socket(), "GET", "/").status());
        }
    }

    @Test
    void whoHangsUpIsNotWaitedFor() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        AtomicBoolean gone = new AtomicBoolean();
        try (HttpServer _ = serve(call -> {
            asked.countDown();
            Eventually.is(() -> call.gone().getAsBoolean());
            gone.set(true);
            return echo(call);
        })) {
            try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket()))) {
                channel.write(ByteBuffer.wrap("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
                asked.await();
            }
            Eventually.is(gone::get);
        }
    }

    @Test
    void whoSendsItsRequestTooSlowlyIsCutOffAndWhoWaitsForAnAnswerIsNot() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        Duration arrival = Duration.ofMillis(300);
        try (HttpServer _ = HttpServer.startForRoot(
                        new UnixEndpoint(socket()),
                        call -> {
                            Eventually.open(over);
                            return echo(call);
                        },
                        new HttpConnection.Timeouts(arrival, arrival));
                SocketChannel waiting = SocketChannel.open(UnixDomainSocketAddress.of(socket()));
                SocketChannel slow = SocketChannel.open(UnixDomainSocketAddress.of(socket()))) {
            waiting.write(ByteBuffer.wrap("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
            Eventually.is(() -> isCutOff(slow));
            over.countDown();
            assertTrue(waiting.read(ByteBuffer.allocate(1)) == 1);
        }
    }

    /// Sends one more byte of a header, and returns whether the server has closed the connection.
    private static boolean isCutOff(SocketChannel slow) {
        try {
            slow.write(ByteBuffer.wrap(new byte[] {'G'}));
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    /// Returns whether the server closed the connection. The kernel reports the end of the stream, or a reset.
    private static boolean isEnded(SocketChannel one) {
        try {
            return one.read(ByteBuffer.allocate(1)) == -1;
        } catch (IOException reset) {
            return true;
        }
    }

    @Test
    void soManyRequestsAndNoMore() throws Exception {
        CountDownLatch asked = new CountDownLatch(256);
        CountDownLatch over = new CountDownLatch(1);
        List<SocketChannel> asking = new ArrayList<>();
        try (HttpServer _ = serve(call -> {
            asked.countDown();
            Eventually.open(over);
            return echo(call);
        })) {
            for (int i = 0; i < 256; i++) {
                SocketChannel each = SocketChannel.open(UnixDomainSocketAddress.of(socket()));
                asking.add(each);
                each.write(ByteBuffer.wrap("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
            }
            asked.await();
            try (SocketChannel one = SocketChannel.open(UnixDomainSocketAddress.of(socket()))) {
                assertTrue(isEnded(one));
            }
            over.countDown();
            for (SocketChannel each : asking) {
                assertEquals(1, each.read(ByteBuffer.allocate(1)), "none was closed for the one that came too late");
            }
            Eventually.is(() -> SocketHttp.ask(socket(), "GET", "/").status() == 202);
        } finally {
            over.countDown();
            for (SocketChannel each : asking) {
                each.close();
            }
        }
    }

    @Test
    void whoSaysNothingMakesRoomForWhoComesWithARequest() throws Exception {
        List<SocketChannel> idle = new ArrayList<>();
        try (HttpServer _ = serve(HttpServerTest::echo)) {
            for (int i = 0; i < 256; i++) {
                idle.add(SocketChannel.open(UnixDomainSocketAddress.of(socket())));
            }
            assertEquals(202, SocketHttp.ask(socket(), "GET", "/").status());
            assertTrue(isEnded(idle.getFirst()), "the oldest is closed");
            for (SocketChannel each : idle.subList(1, idle.size())) {
                each.configureBlocking(false);
                assertEquals(0, each.read(ByteBuffer.allocate(1)), "the others are not");
            }
        } finally {
            for (SocketChannel each : idle) {
                each.close();
            }
        }
    }

    @Test
    void byTcpWhoHasTheTokenIsNotLockedOutByThoseThatTrickle() throws Exception {
        TestCertificate made = TestCertificate.create(dir);
        made.write(file("crt"), file("key"));
        Files.writeString(file("token"), TOKEN);
        List<SocketChannel> trickling = new ArrayList<>();
        try (HttpServer server = secured()) {
            for (int i = 0; i < 300; i++) {
                SocketChannel each = SocketChannel.open(server.address().orElseThrow());
                trickling.add(each);
                each.write(ByteBuffer.wrap(new byte[] {22, 3, 1})); // the start of a TLS record
            }
            assertEquals(202, get(server, made, "Bearer " + TOKEN).statusCode());
        } finally {
            for (SocketChannel each : trickling) {
                each.close();
            }
        }
    }

    @Test
    void aNumberIsAWholeOneInItsBounds() {
        try (HttpServer _ = serve(call -> {
            JsonObject body = new JsonObject();
            body.addProperty("wait", call.number("wait", 600).orElse(-1));
            return Reply.json(200, body);
        })) {
            assertEquals(
                    "{\"wait\":30}\n",
                    SocketHttp.ask(socket(), "GET", "/?wait=30").body());
            assertEquals("{\"wait\":-1}\n", SocketHttp.ask(socket(), "GET", "/").body());
            for (String wrong : List.of("601", "-1", "1.5", "soon", "")) {
                assertEquals(
                        400, SocketHttp.ask(socket(), "GET", "/?wait=" + wrong).status(), wrong);
            }
        }
    }

    @Test
    void byTcpOneNeedsTlsAndTheToken() throws Exception {
        TestCertificate made = TestCertificate.create(dir);
        made.write(file("crt"), file("key"));
        Files.writeString(file("token"), TOKEN + "\n");
        try (HttpServer server = secured()) {
            assertEquals(202, get(server, made, "Bearer " + TOKEN).statusCode());
            for (String wrong : List.of("Bearer " + TOKEN + "0", "Bearer", "Basic " + TOKEN, TOKEN)) {
                assertEquals(401, get(server, made, wrong).statusCode(), wrong);
            }
            URI plain = URI.create("http://127.0.0.1:" + port(server) + "/");
            try (HttpClient client = HttpClient.newHttpClient()) {
                HttpRequest request = HttpRequest.newBuilder(plain)
                        .header("Authorization", "Bearer " + TOKEN)
                        .build();
                assertThrows(IOException.class, () -> client.send(request, HttpResponse.BodyHandlers.ofString()));
            }
            // both files may be replaced while the server runs
            Files.writeString(file("token"), "f".repeat(32));
            assertEquals(401, get(server, made, "Bearer " + TOKEN).statusCode());
            TestCertificate next = TestCertificate.create(dir);
            next.write(file("crt"), file("key"));
            touch("crt");
            assertEquals(202, get(server, next, "Bearer " + "f".repeat(32)).statusCode());
            // an invalid file leaves the last valid one in use
            Files.writeString(file("crt"), "nothing");
            assertEquals(202, get(server, next, "Bearer " + "f".repeat(32)).statusCode());
            Files.delete(file("token"));
            assertEquals(503, get(server, next, "Bearer " + TOKEN).statusCode());
        }
    }

    @Test
    void itDoesNotStartWithWhatCannotBeUsed() throws Exception {
        TestCertificate made = TestCertificate.create(dir);
        made.write(file("crt"), file("key"));
        Files.writeString(file("token"), "short");
        String said =
                String.valueOf(assertThrows(StartFailure.class, this::secured).getMessage());
        assertTrue(said.contains("fewer than 32"), said);
        Files.writeString(file("token"), TOKEN);
        Files.writeString(file("key"), "nothing");
        said = String.valueOf(assertThrows(StartFailure.class, this::secured).getMessage());
        assertTrue(said.contains(file("crt").toString()), said);
    }

    private Path file(String name) {
        return dir.resolve(name);
    }

    private void touch(String name) throws IOException {
        Files.setLastModifiedTime(file(name), FileTime.from(Instant.now().plusSeconds(2)));
    }

    private HttpServer secured() {
        BearerTokenAuth auth = new BearerTokenAuth(file("crt"), file("key"), file("token"));
        return HttpServer.startWithTls(new OpsAddress("127.0.0.1", 0), auth, auth, HttpServerTest::echo);
    }

    private static int port(HttpServer server) {
        return server.address().orElseThrow().getPort();
    }

    private static HttpResponse<String> get(HttpServer server, TestCertificate trusted, String authorization)
            throws IOException, InterruptedException, GeneralSecurityException {
        try (HttpClient client =
                HttpClient.newBuilder().sslContext(trusted.trusting()).build()) {
            return client.send(
                    HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port(server) + "/v1"))
                            .header("Authorization", authorization)
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        }
    }
}
