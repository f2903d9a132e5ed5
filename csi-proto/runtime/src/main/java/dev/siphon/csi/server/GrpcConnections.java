package dev.siphon.csi.server;

import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.buffer.Unpooled;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/// Limits the connections to a gRPC server, as a handler of its listening socket. gRPC gets a connection only after
/// the peer has sent the HTTP/2 preface: gRPC allocates kilobytes per connection, and keeps them for seconds after
/// its end. From then on, the connection cannot be evicted: a sidecar exits when it loses its connection.
final class GrpcConnections extends ChannelInboundHandlerAdapter {
    /// The preface that a peer sends before its SETTINGS frame (RFC 9113, section 3.4).
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private final ConnectionLimit limit;
    private final Duration arrival;

    /// @param arrival time limit for the preface
    GrpcConnections(ConnectionLimit limit, Duration arrival) {
        this.limit = limit;
        this.arrival = arrival;
    }

    @Override
    public void channelRead(ChannelHandlerContext listening, Object message) {
        if (message instanceof Channel connection) {
            connection.pipeline().addLast(new Preface(listening));
            var _ = listening.channel().eventLoop().register(connection);
        } else {
            listening.fireChannelRead(message);
        }
    }

    private final class Preface extends ChannelInboundHandlerAdapter {
        private final ChannelHandlerContext listening;
        private final ByteBuf begin = Unpooled.buffer(PREFACE.length, PREFACE.length);
        private Optional<Future<?>> late = Optional.empty();
        private ByteBuf rest = Unpooled.EMPTY_BUFFER;

        Preface(ChannelHandlerContext listening) {
            this.listening = listening;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext context) {
            Channel connection = context.channel();
            if (!limit.add(connection)) {
                ConnectionLimit.cutOff(connection);
                return;
            }
            late = Optional.of(context.executor()
                    .schedule(() -> ConnectionLimit.cutOff(connection), arrival.toMillis(), TimeUnit.MILLISECONDS));
            var _ = connection.closeFuture().addListener(_ -> late.ifPresent(timer -> timer.cancel(false)));
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf part = (ByteBuf) message;
            begin.writeBytes(part, Math.min(part.readableBytes(), begin.writableBytes()));
            boolean speaksHttp2 = true;
            for (int i = 0; i < begin.writerIndex(); i++) {
                speaksHttp2 &= begin.getByte(i) == PREFACE[i];
            }
            if (!speaksHttp2) {
                part.release();
                ConnectionLimit.cutOff(context.channel());
            } else if (part.isReadable() && limit.busy(context.channel())) {
                late.ifPresent(timer -> timer.cancel(false));
                rest = part;
                // gRPC registers the connection again
                var _ = context.deregister().addListener(_ -> {
                    var _ = listening.fireChannelRead(context.channel());
                });
            } else {
                part.release();
            }
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext context) {
            rest.release(); // if the connection ended before it was registered again
        }

        /// After gRPC has registered the connection, passes on the bytes that were read.
        @Override
        public void channelRegistered(ChannelHandlerContext context) {
            context.fireChannelRegistered();
            if (rest.isReadable()) {
                ByteBuf read = Unpooled.wrappedBuffer(begin, rest);
                rest = Unpooled.EMPTY_BUFFER;
                context.fireChannelRead(read);
                context.fireChannelReadComplete();
                context.pipeline().remove(this);
            }
        }
    }
}
