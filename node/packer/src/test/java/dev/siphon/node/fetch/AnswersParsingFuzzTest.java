package dev.siphon.node.fetch;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.fuzz.ParserFuzz;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/// Fuzzes a server's replies to a request for the rest of a file. The server then closes the connection.
final class AnswersParsingFuzzTest {
    private static final byte[] CONTENT = "hello world".getBytes(StandardCharsets.UTF_8);
    private static final int LEFT = 5;
    private static final FetchLimits ONCE =
            new FetchLimits(Duration.ofSeconds(10), Duration.ofSeconds(2), 1, Duration.ofMillis(1), 0);

    private static final List<byte[]> VALID = ParserFuzz.texts(
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-10/11\r\nETag: \"1\"\r\nContent-Length: 6\r\n\r\n world",
            "HTTP/1.1 200 OK\r\nContent-Length: 11\r\nAccept-Ranges: bytes\r\nLast-Modified: x\r\n\r\nhello world",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n0\r\n\r\n");

    @Test
    void answers() throws IOException, InterruptedException {
        AtomicReference<byte[]> answer = new AtomicReference<>(new byte[0]);
        Thread thread;
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            thread = Thread.ofPlatform().start(() -> serve(server, answer));
            WebAddress address = WebAddress.parse("http://127.0.0.1:" + server.getLocalPort() + "/file");
            ParserFuzz.of(
                            "answers of a server",
                            VALID,
                            bytes -> {
                                answer.set(bytes);
                                fetch(address);
                            },
                            DriverException.BackendUnavailable.class,
                            DriverException.BackendFault.class,
                            DriverException.NotFound.class,
                            DriverException.AccessDenied.class,
                            FetchFailure.class)
                    .run();
        }
        thread.join();
    }

    private static void fetch(WebAddress address) {
        FetchedInMemory file = new FetchedInMemory();
        file.begin("\"1\"");
        file.append(ByteBuffer.wrap(CONTENT, 0, LEFT));
        new Download(Download.Source.of(address, Digest.of(ByteBuffer.wrap(CONTENT))), file, ONCE, (_, _) -> {}).run();
    }

    private static void serve(ServerSocket server, AtomicReference<byte[]> answer) {
        while (!server.isClosed()) {
            try (Socket connection = server.accept()) {
                String head = "";
                for (int next = 0; next >= 0 && !head.endsWith("\r\n\r\n"); head += (char) next) {
                    next = connection.getInputStream().read();
                }
                connection.getOutputStream().write(answer.get());
            } catch (IOException gone) {
                // the peer closed the connection, or the test has ended
            }
        }
    }
}
