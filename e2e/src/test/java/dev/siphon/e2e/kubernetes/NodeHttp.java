package dev.siphon.e2e.kubernetes;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// The HTTP API on a socket that the plugin of the lab's node offers to programs on the node.
final class NodeHttp {
    private static final Path SOCKET = Path.of("/var/lib/siphon/node/http.sock");
    private static final int BUFFER = 8192;

    private NodeHttp() {}

    static String get(String target) {
        return send("GET", target);
    }

    static String post(String target) {
        return send("POST", target);
    }

    /// @return the body of the reply
    private static String send(String method, String target) {
        String request = method + " " + target + " HTTP/1.0\r\nHost: node\r\nContent-Length: 0\r\n\r\n";
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(SOCKET))) {
            ByteBuffer bytes = StandardCharsets.US_ASCII.encode(request);
            while (bytes.hasRemaining()) {
                var _ = channel.write(bytes);
            }
            String answer = readAll(channel);
            return answer.substring(answer.indexOf("\r\n\r\n")).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String readAll(SocketChannel channel) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        ByteBuffer buffer = ByteBuffer.allocate(BUFFER);
        while (channel.read(buffer) >= 0) {
            all.write(buffer.array(), 0, buffer.position());
            buffer.clear();
        }
        return all.toString(StandardCharsets.UTF_8);
    }
}
