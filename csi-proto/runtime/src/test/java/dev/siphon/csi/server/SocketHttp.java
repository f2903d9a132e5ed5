package dev.siphon.csi.server;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// An HTTP client over a unix socket, like `curl --unix-socket`.
public final class SocketHttp {
    private SocketHttp() {}

    /// A reply.
    ///
    /// @param status 0 if the server closed the connection without a reply
    public record Answer(int status, String body) {
        public JsonObject json() {
            return JsonParser.parseString(body).getAsJsonObject();
        }
    }

    /// Sends a request without a body.
    public static Answer ask(Path socket, String method, String target) {
        return send(socket, method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }

    /// Sends bytes, and reads until the server closes the connection.
    public static Answer send(Path socket, String bytes) {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            Channels.newOutputStream(channel).write(bytes.getBytes(StandardCharsets.ISO_8859_1));
            String all = new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
            if (all.isEmpty()) {
                return new Answer(0, "");
            }
            int head = all.indexOf("\r\n\r\n");
            return new Answer(Integer.parseInt(all.substring(9, 12)), all.substring(head + 4));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
