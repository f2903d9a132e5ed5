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

/// Limits the connections to a gRPC server, as a handler of the socket that listens. gRPC sees a connection only when
/// its peer has begun to speak HTTP/2: gRPC allocates kilobytes for each, and keeps them for seconds after the
/// connection has ended. From then on a connection keeps its place: a sidecar ends itself when it loses its connection.
final class GrpcConnections extends ChannelInboundHandlerAdapter {
    /// What a peer begins with, before it sends a frame SETTINGS (RFC 9113, section 3.4).
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private final ConnectionLimit limit;
    private final Duration arrival;

    /// @param arrival how long the preface may take
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
                // gRPC registers it anew
                var _ = context.deregister().addListener(_ -> {
                    var _ = listening.fireChannelRead(context.channel());
                });
            } else {
                part.release();
            }
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext context) {
            rest.release(); // of a connection that ended before it was registered anew
        }

        /// Registered anew: what has been read is for gRPC.
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
