package dev.siphon.node.fetch;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/// A local HTTP server of one file, with replies that each test chooses.
public final class FileServer implements AutoCloseable {
    private static final int TRICKLE_MILLIS = 20;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Queue<Answer> answers = new ConcurrentLinkedQueue<>();
    private final List<String> ranges = Collections.synchronizedList(new ArrayList<>());
    private final List<String> keys = Collections.synchronizedList(new ArrayList<>());
    private volatile byte[] content;
    private volatile String tag = "\"1\"";
    private volatile Consumer<FileServer> halfSent = _ -> {};

    /// How to reply to one request.
    public enum Answer {
        WELL,
        /// Ends after half of the requested bytes.
        CUT,
        /// Sends half, calls [#whenHalfIsSent], and ends.
        HALF_THEN_TELL,
        /// Sends half, then nothing until the test ends.
        STALL,
        /// Sends a byte now and then, until the test ends.
        TRICKLE,
        /// Sends the whole file, whatever range was requested.
        ALL,
        /// Claims range 0, whatever range was requested.
        WRONG_RANGE,
        BUSY
    }

    public FileServer(byte[] content) {
        this.content = content;
        try {
            server = HttpServer.create(new InetSocketAddress(0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext("/file", this::answer);
        server.createContext("/gone", exchange -> status(exchange, 404));
        server.createContext("/refused", exchange -> status(exchange, 403));
        server.createContext("/moved", exchange -> redirect(exchange, "/file?token=s3cret"));
        server.createContext("/round", exchange -> redirect(exchange, "/round"));
        server.createContext("/away", exchange -> redirect(exchange, "http://127.0.0.2:1/file"));
        server.createContext(
                "/other", exchange -> redirect(exchange, address("/file").replace("127.0.0.1", "127.0.0.2")));
        server.createContext("/elsewhere", exchange -> redirect(exchange, "ftp://127.0.0.1/file"));
        server.setExecutor(threads);
        server.start();
    }

    public String address(String path) {
        return "http://127.0.0.1:" + server.getAddress().getPort() + path;
    }

    /// Sets the replies to the next requests, in order; later requests succeed.
    public FileServer then(Answer... next) {
        answers.addAll(List.of(next));
        return this;
    }

    public FileServer whenHalfIsSent(Consumer<FileServer> what) {
        halfSent = what;
        return this;
    }

    public void change(byte[] other, String otherTag) {
        content = other;
        tag = otherTag;
    }

    /// Returns the requests so far: ranges, or `all`.
    public List<String> ranges() {
        return List.copyOf(ranges);
    }

    /// Returns the headers `Authorization` of the requests so far, or `none`.
    public List<String> keys() {
        return List.copyOf(keys);
    }

    private static void status(HttpExchange exchange, int status) throws IOException {
        exchange.sendResponseHeaders(status, -1);
        exchange.close();
    }

    private static void redirect(HttpExchange exchange, String to) throws IOException {
        exchange.getResponseHeaders().add("Location", to);
        status(exchange, 302);
    }

    private void answer(HttpExchange exchange) throws IOException {
        Answer answer = Optional.ofNullable(answers.poll()).orElse(Answer.WELL);
        String asked = Optional.ofNullable(exchange.getRequestHeaders().getFirst("Range"))
                .orElse("all");
        ranges.add(asked);
        keys.add(Optional.ofNullable(exchange.getRequestHeaders().getFirst("Authorization"))
                .orElse("none"));
        if (answer == Answer.BUSY) {
            status(exchange, 503);
            return;
        }
        String condition = exchange.getRequestHeaders().getFirst("If-Range");
        byte[] all = content;
        int from = asked.startsWith("bytes=") && tag.equals(condition) && answer != Answer.ALL
                ? Integer.parseInt(asked.substring(6, asked.length() - 1))
                : 0;
        if (!tag.isEmpty()) {
            exchange.getResponseHeaders().add("ETag", tag);
        }
        if (from > 0 || answer == Answer.WRONG_RANGE) {
            int first = answer == Answer.WRONG_RANGE ? 0 : from;
            exchange.getResponseHeaders()
                    .add("Content-Range", "bytes " + first + "-" + (all.length - 1) + "/" + all.length);
        }
        exchange.sendResponseHeaders(from > 0 || answer == Answer.WRONG_RANGE ? 206 : 200, all.length - from);
        send(exchange, answer, all, from);
        exchange.close();
    }

    private void send(HttpExchange exchange, Answer answer, byte[] all, int from) throws IOException {
        int half = (all.length - from) / 2;
        var out = exchange.getResponseBody();
        switch (answer) {
            case WELL, ALL, WRONG_RANGE -> out.write(all, from, all.length - from);
            case CUT -> {
                out.write(all, from, half);
                out.flush();
            }
            case HALF_THEN_TELL -> {
                out.write(all, from, half);
                out.flush();
                halfSent.accept(this);
            }
            case STALL -> {
                out.write(all, from, half);
                out.flush();
                untilClosed();
            }
            case TRICKLE -> {
                for (int at = 0; at < all.length; at++) {
                    out.write(all, at, 1);
                    out.flush();
                    pause();
                }
            }
            case BUSY -> throw new IllegalStateException("has no body");
        }
    }

    private void pause() {
        try {
            synchronized (server) {
                server.wait(TRICKLE_MILLIS);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private void untilClosed() {
        try {
            synchronized (server) {
                server.wait();
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
        server.stop(0);
    }
}
