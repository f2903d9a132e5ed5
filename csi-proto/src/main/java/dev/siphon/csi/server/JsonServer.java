package dev.siphon.csi.server;

import io.grpc.netty.shaded.io.netty.bootstrap.ServerBootstrap;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelFactory;
import io.grpc.netty.shaded.io.netty.channel.ChannelFuture;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandler;
import io.grpc.netty.shaded.io.netty.channel.ChannelInitializer;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.ServerChannel;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpObjectAggregator;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpServerCodec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// HTTP/1.1 with JSON, for programs that speak no gRPC: on a unix socket for root, or by TCP with TLS for whoever
/// has a token. One request a connection, each on a virtual thread of its own.
///
/// The JDK's own server knows no unix sockets, hence netty's, which is here for gRPC.
public final class JsonServer implements AutoCloseable {
    /// How long a request may take to arrive, TLS and all.
    private static final Duration ARRIVAL = Duration.ofSeconds(10);

    private static final int MAX_BODY_BYTES = 16 << 10;

    /// At a time; see [Places].
    private static final int MAX_CONNECTIONS = 256;

    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(
            1, Thread.ofPlatform().daemon().name("http-io-", 0).factory(), NioIoHandler.newFactory());
    private final ExecutorService calls = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("http-", 0).factory());
    private final JsonCall.Pages pages;
    private final Duration arrival;
    private Optional<Channel> listening = Optional.empty();
    private Optional<SocketFile> file = Optional.empty();

    private JsonServer(JsonCall.Pages pages, Duration arrival) {
        this.pages = pages;
        this.arrival = arrival;
    }

    /// Serves root and the user of this process, whatever the modes of the socket and its directory are.
    ///
    /// @throws StartFailure as [SocketFile#bind]
    public static JsonServer startForRoot(UnixEndpoint endpoint, JsonCall.Pages pages) {
        return startForRoot(endpoint, pages, ARRIVAL);
    }

    static JsonServer startForRoot(UnixEndpoint endpoint, JsonCall.Pages pages, Duration arrival) {
        PeerGate gate = PeerGate.forRootAndSelf();
        JsonServer server = new JsonServer(pages, arrival);
        return server.starting(() -> server.file = Optional.of(SocketFile.bind(
                endpoint.path(),
                bound -> server.listen(
                        () -> {
                            NioServerDomainSocketChannel channel = new NioServerDomainSocketChannel();
                            channel.pipeline().addLast(gate);
                            return channel;
                        },
                        UnixDomainSocketAddress.of(bound),
                        connection -> {},
                        Optional.empty()))));
    }

    /// Serves whoever has the token, by TLS alone.
    ///
    /// @throws StartFailure if the address cannot be had, or a file of `door` cannot be used
    public static JsonServer startForHolders(OpsAddress address, TokenDoor door, JsonCall.Pages pages) {
        JsonServer server = new JsonServer(pages, ARRIVAL);
        return server.starting(() -> {
            door.check();
            try {
                server.listen(
                        NioServerSocketChannel::new,
                        address.resolve(),
                        connection -> connection.pipeline().addLast(door.tls(connection)),
                        Optional.of(door));
            } catch (IOException e) {
                throw new StartFailure("cannot serve HTTP on " + address, e);
            }
        });
    }

    private JsonServer starting(Runnable start) {
        try {
            start.run();
            return this;
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private void listen(
            ChannelFactory<ServerChannel> sockets,
            SocketAddress address,
            Consumer<Channel> secure,
            Optional<TokenDoor> door)
            throws IOException {
        Places places = new Places(MAX_CONNECTIONS);
        ChannelHandler connections = new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel connection) {
                if (!places.take(connection)) {
                    var _ = connection.close();
                    return;
                }
                secure.accept(connection);
                connection
                        .pipeline()
                        .addLast(new HttpServerCodec())
                        .addLast(new HttpObjectAggregator(MAX_BODY_BYTES))
                        .addLast(new JsonExchange(pages, door, places, calls, arrival));
            }
        };
        ChannelFuture bound = new ServerBootstrap()
                .group(loop)
                .channelFactory(sockets)
                .childHandler(connections)
                .bind(address)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException(bound.cause());
        }
        listening = Optional.of(bound.channel());
    }

    /// Where it listens, with the port it got, if that is TCP.
    public Optional<InetSocketAddress> address() {
        return listening
                .map(Channel::localAddress)
                .filter(InetSocketAddress.class::isInstance)
                .map(InetSocketAddress.class::cast);
    }

    /// Breaks off what is under way.
    @Override
    public void close() {
        listening.ifPresent(channel -> {
            var _ = channel.close().awaitUninterruptibly();
        });
        calls.shutdown(); // not close(): a call may hang
        var _ = loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        try {
            if (file.isPresent()) {
                file.get().unlink();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove the socket", e);
        }
    }
}
