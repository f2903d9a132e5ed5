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

/// A connection to a CSI socket, made at the first call.
public final class UnixSocketChannel implements AutoCloseable {
    private final ManagedChannel channel;
    private final EventLoopGroup loop;

    private UnixSocketChannel(ManagedChannel channel, EventLoopGroup loop) {
        this.channel = channel;
        this.loop = loop;
    }

    /// A connection to `endpoint`. Nothing has to listen there yet.
    public static UnixSocketChannel open(UnixEndpoint endpoint) {
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(
                1, Thread.ofPlatform().daemon().name("grpc-client-", 0).factory(), NioIoHandler.newFactory());
        ManagedChannel channel = NettyChannelBuilder.forAddress(UnixDomainSocketAddress.of(endpoint.path()))
                .channelType(NioDomainSocketChannel.class)
                // gRPC asks for it, unix sockets do not have it, and netty would warn
                .withOption(ChannelOption.SO_KEEPALIVE, null)
                .eventLoopGroup(loop)
                .directExecutor()
                // what servers in other languages expect of a unix socket; the default would be the path
                .overrideAuthority("localhost")
                .usePlaintext()
                .build();
        return new UnixSocketChannel(channel, loop);
    }

    /// Waits until the connection stands or cannot be made: the first call tells which. Its deadline then counts
    /// from there.
    ///
    /// @param limit how long to wait at most
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

    /// For the generated stubs.
    public Channel channel() {
        return channel;
    }

    /// Ends the connection; calls under way fail.
    @Override
    public void close() {
        channel.shutdownNow();
        var _ = loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
}
