package dev.siphon.csi.server;

import dev.siphon.csi.server.HttpConnection.Service;
import io.grpc.netty.shaded.io.netty.bootstrap.ServerBootstrap;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelFuture;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandler;
import io.grpc.netty.shaded.io.netty.channel.ChannelInitializer;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.FixedRecvByteBufAllocator;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.WriteBufferWaterMark;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpResponseEncoder;
import io.grpc.netty.shaded.io.netty.handler.stream.ChunkedWriteHandler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.event.Level;

/// Serves HTTP/1.1 for operators and for programs without gRPC: by TCP for everyone, on a unix socket for root, or
/// by TLS for holders of a token. Each connection carries one request, which runs on its own virtual thread.
///
/// Anyone on the network may connect, so the resources of a connection are limited: see [ConnectionLimit],
/// [HttpInput], and [HttpConnection.Timeouts] for the time. Each server has its own thread for connections.
public final class HttpServer implements AutoCloseable {
    private static final int MAX_CONNECTIONS = 256;

    /// Limits the kernel's buffer per connection, which counts as this process's memory in a container.
    private static final int SOCKET_BUFFER_BYTES = 64 << 10;

    private static final int READ_BYTES = 4 << 10;
    private static final WriteBufferWaterMark PENDING_BYTES = new WriteBufferWaterMark(8 << 10, 16 << 10);

    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(
            1, Thread.ofPlatform().daemon().name("http-io-", 0).factory(), NioIoHandler.newFactory());
    private final ExecutorService calls = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("http-", 0).factory());
    private Optional<Channel> listening = Optional.empty();
    private Optional<SocketFile> file = Optional.empty();

    private HttpServer() {}

    /// Serves everyone, without TLS.
    ///
    /// @throws StartFailure if the address cannot be bound
    static HttpServer startForAll(OpsAddress address, HttpCall.Pages pages, HttpConnection.Timeouts timeouts) {
        HttpServer server = new HttpServer();
        // DEBUG, since one line per probe would be too much
        Service service = server.service(pages, Optional.empty(), HttpAuth.ALL, timeouts, Level.DEBUG);
        return server.starting(() -> server.listen(address, service));
    }

    /// Serves only root and the user of this process, whatever the modes of the socket and its directory are.
    ///
    /// @throws StartFailure as [SocketFile#bind]
    public static HttpServer startForRoot(UnixEndpoint endpoint, HttpCall.Pages pages) {
        return startForRoot(endpoint, pages, HttpConnection.Timeouts.USUAL);
    }

    static HttpServer startForRoot(UnixEndpoint endpoint, HttpCall.Pages pages, HttpConnection.Timeouts timeouts) {
        PeerCredentialCheck gate = PeerCredentialCheck.forRootAndSelf();
        HttpServer server = new HttpServer();
        Service service = server.service(pages, Optional.empty(), HttpAuth.ALL, timeouts, Level.INFO);
        return server.starting(() -> server.file = Optional.of(SocketFile.bind(
                endpoint.path(),
                bound -> server.bind(
                        new ServerBootstrap().channelFactory(() -> {
                            NioServerDomainSocketChannel channel = new NioServerDomainSocketChannel();
                            channel.pipeline().addLast(gate);
                            return channel;
                        }),
                        UnixDomainSocketAddress.of(bound),
                        service))));
    }

    /// Serves requests that `auth` admits, only by TLS.
    ///
    /// @param tls the certificate to use
    /// @throws StartFailure if the address cannot be bound, or a file of `tls` cannot be used
    public static HttpServer startWithTls(
            OpsAddress address, BearerTokenAuth tls, HttpAuth auth, HttpCall.Pages pages) {
        HttpServer server = new HttpServer();
        Service service = server.service(pages, Optional.of(tls), auth, HttpConnection.Timeouts.USUAL, Level.INFO);
        return server.starting(() -> {
            tls.check();
            server.listen(address, service);
        });
    }

    private Service service(
            HttpCall.Pages pages,
            Optional<BearerTokenAuth> tls,
            HttpAuth auth,
            HttpConnection.Timeouts timeouts,
            Level requests) {
        return new Service(pages, tls, auth, new ConnectionLimit(MAX_CONNECTIONS), calls, timeouts, requests);
    }

    private HttpServer starting(Runnable start) {
        try {
            start.run();
            return this;
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private void listen(OpsAddress address, Service service) {
        try {
            bind(
                    new ServerBootstrap()
                            .channelFactory(NioServerSocketChannel::new)
                            .option(ChannelOption.SO_RCVBUF, SOCKET_BUFFER_BYTES)
                            .childOption(ChannelOption.SO_SNDBUF, SOCKET_BUFFER_BYTES),
                    address.resolve(),
                    service);
        } catch (IOException e) {
            throw new StartFailure("cannot serve HTTP on " + address, e);
        }
    }

    private void bind(ServerBootstrap sockets, SocketAddress address, Service service) throws IOException {
        ChannelHandler connections = new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel connection) {
                if (!service.limit().add(connection)) {
                    ConnectionLimit.cutOff(connection);
                    return;
                }
                connection.pipeline().addLast(new HttpInput());
                service.tls().ifPresent(each -> connection.pipeline().addLast(each.tls(connection)));
                connection
                        .pipeline()
                        .addLast(HttpInput.decoder())
                        .addLast(new HttpResponseEncoder())
                        .addLast(new ChunkedWriteHandler())
                        .addLast(new HttpConnection(service));
            }
        };
        ChannelFuture bound = sockets.group(loop)
                .childOption(ChannelOption.RECVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(READ_BYTES))
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, PENDING_BYTES)
                .childHandler(connections)
                .bind(address)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException(bound.cause());
        }
        listening = Optional.of(bound.channel());
    }

    /// Returns the address with the actual port; empty if it is not TCP.
    public Optional<InetSocketAddress> address() {
        return listening
                .map(Channel::localAddress)
                .filter(InetSocketAddress.class::isInstance)
                .map(InetSocketAddress.class::cast);
    }

    /// Aborts running requests.
    @Override
    public void close() {
        listening.ifPresent(channel -> {
            var _ = channel.close().awaitUninterruptibly();
        });
        calls.shutdown(); // not close(), which would wait for a call that hangs
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
