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

/// Serves gRPC on a unix socket of mode 0600, with one virtual thread per RPC.
///
/// The transport is netty's NIO channel, not epoll: it unpacks no native library into a writable directory, and
/// runs on every architecture with a JDK. One event loop is enough for the few connections of sidecars and kubelet.
public final class UnixSocketServer implements AutoCloseable {
    /// The largest request in bytes. The largest in CSI are maps of 4 KiB each (CSI v1.13, "Size Limits"), and a
    /// group snapshot of many volumes; this leaves room for 8,000 volumes.
    private static final int MAX_REQUEST_BYTES = 1 << 20;

    private static final int MAX_METADATA_BYTES = 8 << 10;
    private static final int MAX_CALLS_PER_CONNECTION = 1_000;

    /// A sidecar has one connection; the kubelet has one per running call.
    private static final int MAX_CONNECTIONS = 512;

    /// Time limit for a peer's HTTP/2 preface, and then for its first frame.
    private static final Duration PREFACE = Duration.ofSeconds(10);

    /// Time limit for closing connections, which does not wait for their peers.
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

    /// Starts the server.
    ///
    /// @param services the services to register
    /// @param interceptors the outermost first
    /// @throws StartFailure as [SocketFile#bind]
    public static UnixSocketServer start(
            UnixEndpoint endpoint, List<ServerServiceDefinition> services, List<ServerInterceptor> interceptors) {
        return start(endpoint, services, interceptors, pipeline -> {});
    }

    /// As [#start], but only for root and the user of this process: cuts off all others, whatever the modes of the
    /// socket and its directory are.
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
                // gRPC sets this option; unix sockets do not support it, and netty warns at each connection
                .withChildOption(ChannelOption.SO_KEEPALIVE, null)
                // a peer that stopped keeps its socket open, so check that it still lives; it may check this side
                // as well
                .keepAliveTime(60, TimeUnit.SECONDS)
                .keepAliveTimeout(20, TimeUnit.SECONDS)
                .permitKeepAliveTime(10, TimeUnit.SECONDS)
                .permitKeepAliveWithoutCalls(true);
        // gRPC runs the last interceptor first
        interceptors.reversed().forEach(builder::intercept);
        return builder.build();
    }

    /// Returns the path of the socket.
    public Path path() {
        return path;
    }

    /// Checks whether the socket is still in place, neither removed nor replaced.
    public boolean isInPlace() {
        return file.isInPlace();
    }

    /// Accepts no new RPC, waits up to `patience` for running ones, and then aborts them (the caller gets
    /// UNAVAILABLE or CANCELLED). Later calls have no further effect.
    ///
    /// @return whether every RPC ended by itself
    public boolean drain(Duration patience) {
        server.shutdown();
        boolean drained = ended(patience);
        server.shutdownNow();
        // the loop closes the connections, so wait while it still runs
        var _ = ended(CLOSING);
        var _ = loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        // not close(), which would wait for a handler that hangs in a native call
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

    /// Aborts running RPCs.
    @Override
    public void close() {
        drain(Duration.ZERO);
    }
}
