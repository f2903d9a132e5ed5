package dev.siphon.csi.client;

import dev.siphon.csi.server.UnixEndpoint;
import io.grpc.Channel;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioDomainSocketChannel;
import java.net.UnixDomainSocketAddress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// A client's connection to a CSI socket, opened by the first call.
public final class UnixSocketChannel implements AutoCloseable {
    private final ManagedChannel channel;
    private final EventLoopGroup loop;

    private UnixSocketChannel(ManagedChannel channel, EventLoopGroup loop) {
        this.channel = channel;
        this.loop = loop;
    }

    /// Creates a channel to `endpoint`. No server needs to listen there yet.
    public static UnixSocketChannel open(UnixEndpoint endpoint) {
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(
                1, Thread.ofPlatform().daemon().name("grpc-client-", 0).factory(), NioIoHandler.newFactory());
        ManagedChannel channel = NettyChannelBuilder.forAddress(UnixDomainSocketAddress.of(endpoint.path()))
                .channelType(NioDomainSocketChannel.class)
                // gRPC sets this option; unix sockets do not support it, and netty would warn
                .withOption(ChannelOption.SO_KEEPALIVE, null)
                .eventLoopGroup(loop)
                .directExecutor()
                // servers in other languages expect this for a unix socket; the default would be the path
                .overrideAuthority("localhost")
                .usePlaintext()
                .build();
        return new UnixSocketChannel(channel, loop);
    }

    /// Waits until the connection is open or has failed; the first call reports a failure. The deadline of that
    /// call then does not include the time to connect.
    ///
    /// @param limit maximum time to wait
    public void connect(Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        ConnectivityState state = channel.getState(true);
        while (state == ConnectivityState.IDLE || state == ConnectivityState.CONNECTING) {
            CountDownLatch changed = new CountDownLatch(1);
            channel.notifyWhenStateChanged(state, changed::countDown);
            if (!changed.await(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                return;
            }
            state = channel.getState(true);
        }
    }

    /// Returns the channel for the generated stubs.
    public Channel channel() {
        return channel;
    }

    /// Closes the connection; running calls fail.
    @Override
    public void close() {
        channel.shutdownNow();
        var _ = loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
}
