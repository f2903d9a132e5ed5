package dev.siphon.csi.server;

import io.grpc.Server;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelFactory;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.ChannelPipeline;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// A gRPC server on a unix socket of mode 0600, with one virtual thread per RPC.
///
/// The transport is netty's NIO channel and not its epoll one: no native library to unpack into a writable
/// folder, and every architecture that has a JDK. One event loop is enough for the few connections of sidecars
/// and kubelet.
public final class UnixSocketServer implements AutoCloseable {
    /// The largest request in bytes. The largest that CSI allows are maps of 4 KiB each (CSI v1.13, "Size
    /// Limits"), and a group snapshot that names many volumes; this leaves room for 8,000 of them.
    private static final int MAX_REQUEST_BYTES = 1 << 20;

    private static final int MAX_METADATA_BYTES = 8 << 10;
    private static final int MAX_CALLS_PER_CONNECTION = 1_000;

    /// Sidecars have one each; the kubelet has one for each of its calls that is under way.
    private static final int MAX_CONNECTIONS = 512;

    /// How long a peer may take to begin to speak HTTP/2, and then for its first frame.
    private static final Duration PREFACE = Duration.ofSeconds(10);

    /// How long connections may take to close, which needs nothing from their peers.
    private static final Duration CLOSING = Duration.ofSeconds(1);

    private final Path path;
    private final Server server;
    private final SocketFile file;
    private final EventLoopGroup loop;
    private final ExecutorService calls;

    private UnixSocketServer(Path path, Server server, SocketFile file, EventLoopGroup loop, ExecutorService calls) {
        this.path = path;
        this.server = server;
        this.file = file;
        this.loop = loop;
        this.calls = calls;
    }

    /// Starts to serve.
    ///
    /// @param services what to serve
    /// @param interceptors the outermost first
    /// @throws StartFailure as [SocketFile#bind]
    public static UnixSocketServer start(
            UnixEndpoint endpoint, List<ServerServiceDefinition> services, List<ServerInterceptor> interceptors) {
        return start(endpoint, services, interceptors, pipeline -> {});
    }

    /// As [#start], for root and the user of this process alone, whatever the modes of the socket and its
    /// directory are: who else connects is cut off.
    public static UnixSocketServer startForRoot(
            UnixEndpoint endpoint, List<ServerServiceDefinition> services, List<ServerInterceptor> interceptors) {
        PeerCredentialCheck gate = PeerCredentialCheck.forRootAndSelf();
        return start(endpoint, services, interceptors, pipeline -> pipeline.addLast(gate));
    }

    private static UnixSocketServer start(
            UnixEndpoint endpoint,
            List<ServerServiceDefinition> services,
            List<ServerInterceptor> interceptors,
            Consumer<ChannelPipeline> gate) {
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(
                1, Thread.ofPlatform().daemon().name("grpc-io-", 0).factory(), NioIoHandler.newFactory());
        ExecutorService calls = Executors.newThreadPerTaskExecutor(
                Thread.ofVirtual().name("rpc-", 0).factory());
        ConnectionLimit limit = new ConnectionLimit(MAX_CONNECTIONS);
        ChannelFactory<NioServerDomainSocketChannel> sockets = () -> {
            NioServerDomainSocketChannel channel = new NioServerDomainSocketChannel();
            gate.accept(channel.pipeline());
            channel.pipeline().addLast(new GrpcConnections(limit, PREFACE));
            return channel;
        };
        Server[] started = new Server[1];
        try {
            SocketFile file = SocketFile.bind(endpoint.path(), bound -> {
                started[0] = build(bound, loop, calls, services, interceptors, sockets)
                        .start();
            });
            return new UnixSocketServer(endpoint.path(), started[0], file, loop, calls);
        } catch (RuntimeException e) {
            if (started[0] != null) {
                started[0].shutdownNow();
            }
            var _ = loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
            throw e;
        }
    }

    private static Server build(
            Path bound,
            EventLoopGroup loop,
            ExecutorService calls,
            List<ServerServiceDefinition> services,
            List<ServerInterceptor> interceptors,
            ChannelFactory<NioServerDomainSocketChannel> sockets) {
        NettyServerBuilder builder = NettyServerBuilder.forAddress(UnixDomainSocketAddress.of(bound))
                .channelFactory(sockets)
                .bossEventLoopGroup(loop)
                .workerEventLoopGroup(loop)
                .executor(calls)
                .addServices(services)
                .maxInboundMessageSize(MAX_REQUEST_BYTES)
                .maxInboundMetadataSize(MAX_METADATA_BYTES)
                .maxConcurrentCallsPerConnection(MAX_CALLS_PER_CONNECTION)
                .handshakeTimeout(PREFACE.toSeconds(), TimeUnit.SECONDS)
                // gRPC asks for it, unix sockets do not have it, and netty warns at each connection
                .withChildOption(ChannelOption.SO_KEEPALIVE, null)
                // a peer that was stopped keeps its socket open: ask whether it still lives, and let it ask as
                // often
                .keepAliveTime(60, TimeUnit.SECONDS)
                .keepAliveTimeout(20, TimeUnit.SECONDS)
                .permitKeepAliveTime(10, TimeUnit.SECONDS)
                .permitKeepAliveWithoutCalls(true);
        // gRPC runs the interceptor that was added last first
        interceptors.reversed().forEach(builder::intercept);
        return builder.build();
    }

    /// Where it listens.
    public Path path() {
        return path;
    }

    /// Whether its socket is where callers look for it: nobody has removed or replaced it.
    public boolean isInPlace() {
        return file.isInPlace();
    }

    /// Takes no new RPC, waits up to `patience` for those under way, and then breaks them off (the caller sees
    /// UNAVAILABLE or CANCELLED). A later call does nothing more.
    ///
    /// @return whether every RPC ended by itself
    public boolean drain(Duration patience) {
        server.shutdown();
        boolean drained = ended(patience);
        server.shutdownNow();
        // connections are closed by the loop: while it still runs
        var _ = ended(CLOSING);
        var _ = loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        // not close(): it would wait for a handler that hangs in a native call
        calls.shutdown();
        try {
            file.unlink();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove the socket " + path, e);
        }
        return drained;
    }

    private boolean ended(Duration patience) {
        try {
            return server.awaitTermination(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /// Breaks off what is under way.
    @Override
    public void close() {
        drain(Duration.ZERO);
    }
}
