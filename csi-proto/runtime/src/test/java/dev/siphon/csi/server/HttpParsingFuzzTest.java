package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.fuzz.LoggedErrors;
import dev.siphon.csi.fuzz.ParserFuzz;
import io.grpc.netty.shaded.io.netty.buffer.Unpooled;
import io.grpc.netty.shaded.io.netty.channel.embedded.EmbeddedChannel;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpResponseEncoder;
import io.grpc.netty.shaded.io.netty.handler.stream.ChunkedWriteHandler;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

/// Sends almost valid requests to the HTTP server. It must reply or close the connection, and log no error.
final class HttpParsingFuzzTest {
    private static final int PIECE_BYTES = 1000;

    private static final HttpCall.Pages PAGES = call -> {
        if (call.path().equals(List.of("number"))) {
            return HttpCall.Reply.text(200, "" + call.number("n", 100).orElse(0));
        }
        throw new DriverException.NotFound("no page " + call.path() + " " + call.parameters());
    };

    @Test
    void requests() {
        List<byte[]> valid = ParserFuzz.texts(
                "GET /number?n=7&x=%C3%BC HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer abc\r\n\r\n",
                "POST /cache/u1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n",
                "GET /metrics HTTP/1.0\r\n\r\nGET /metrics HTTP/1.0\r\n\r\n");
        try (LoggedErrors errors = new LoggedErrors()) {
            ParserFuzz.of("requests of HTTP", valid, bytes -> {
                        request(bytes);
                        assertEquals(List.of(), errors.lines());
                    })
                    .run();
        }
    }

    private static void request(byte[] bytes) {
        HttpConnection.Service service = new HttpConnection.Service(
                PAGES,
                Optional.empty(),
                (_, authorization) -> HttpAuth.token(authorization).isEmpty(),
                new ConnectionLimit(1),
                Runnable::run,
                HttpConnection.Timeouts.USUAL,
                Level.TRACE);
        EmbeddedChannel connection = new EmbeddedChannel();
        service.limit().add(connection);
        connection
                .pipeline()
                .addLast(new HttpInput())
                .addLast(HttpInput.decoder())
                .addLast(new HttpResponseEncoder())
                .addLast(new ChunkedWriteHandler())
                .addLast(new HttpConnection(service));
        for (int at = 0; at < bytes.length && connection.isOpen(); at += PIECE_BYTES) {
            connection.writeInbound(Unpooled.copiedBuffer(bytes, at, Math.min(PIECE_BYTES, bytes.length - at)));
            connection.runPendingTasks();
            connection.releaseOutbound();
        }
        connection.finishAndReleaseAll();
        connection.checkException();
        assertFalse(connection.isOpen());
    }
}
