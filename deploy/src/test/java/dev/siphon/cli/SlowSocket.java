package dev.siphon.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/// A slow proxy for a unix socket: it accepts connections at once, and forwards them after a delay.
final class SlowSocket implements AutoCloseable {
    private final Path path;
    private final ServerSocketChannel server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    private SlowSocket(Path path, ServerSocketChannel server) {
        this.path = path;
        this.server = server;
    }

    /// @param target the socket to forward to
    /// @param path where to listen
    /// @param delay the time from a connection to its first reply
    static SlowSocket before(Path target, Path path, Duration delay) {
        try {
            ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            server.bind(UnixDomainSocketAddress.of(path));
            SlowSocket socket = new SlowSocket(path, server);
            socket.threads.execute(() -> socket.serve(target, delay));
            return socket;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void serve(Path target, Duration delay) {
        try {
            while (true) {
                SocketChannel caller = server.accept();
                CompletableFuture.delayedExecutor(delay.toMillis(), TimeUnit.MILLISECONDS, threads)
                        .execute(() -> join(caller, target));
            }
        } catch (IOException _) {
            // closed: stop
        }
    }

    private void join(SocketChannel caller, Path target) {
        try {
            SocketChannel callee = SocketChannel.open(UnixDomainSocketAddress.of(target));
            threads.execute(() -> pass(caller, callee));
            threads.execute(() -> pass(callee, caller));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Forwards bytes until either end closes.
    private static void pass(SocketChannel from, SocketChannel to) {
        try (from;
                to) {
            Channels.newInputStream(from).transferTo(Channels.newOutputStream(to));
        } catch (IOException _) {
            // the other end closed, so this one is closed too
        }
    }

    Path path() {
        return path;
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            threads.shutdownNow();
        }
    }
}
