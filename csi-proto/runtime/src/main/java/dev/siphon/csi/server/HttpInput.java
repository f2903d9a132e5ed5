package dev.siphon.csi.server;

import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import io.grpc.netty.shaded.io.netty.handler.codec.http.DefaultHttpHeaders;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpDecoderConfig;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpHeaders;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpHeadersFactory;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpRequestDecoder;
import io.grpc.netty.shaded.io.netty.handler.codec.http.TooLongHttpHeaderException;

/// Limits the input of a connection to an [HttpServer]: cuts it off after 64 KiB in total, including TLS. This
/// bounds the memory for requests pipelined behind the first, which get no reply.
final class HttpInput extends ChannelInboundHandlerAdapter {
    /// Limit of a request's body, which no page reads.
    static final int MAX_BODY_BYTES = 16 << 10;

    private static final int MAX_BYTES = 64 << 10;
    private static final int MAX_LINE_BYTES = 4 << 10;
    private static final int MAX_HEADER_BYTES = 8 << 10;

    /// A header takes about 150 bytes of heap besides its text: without this limit, 8 KiB of headers took 300 KiB.
    private static final int MAX_HEADERS = 100;

    private long bytes;

    /// Returns a decoder for the request line and the headers.
    static HttpRequestDecoder decoder() {
        return new HttpRequestDecoder(new HttpDecoderConfig()
                .setMaxInitialLineLength(MAX_LINE_BYTES)
                .setMaxHeaderSize(MAX_HEADER_BYTES)
                .setHeadersFactory(COUNTED)
                .setTrailersFactory(COUNTED));
    }

    @Override
    public void channelRead(ChannelHandlerContext connection, Object message) {
        if (message instanceof ByteBuf part) {
            bytes += part.readableBytes();
            if (bytes > MAX_BYTES) {
                part.release();
                ConnectionLimit.cutOff(connection.channel());
                return;
            }
        }
        connection.fireChannelRead(message);
    }

    private static final HttpHeadersFactory COUNTED = new HttpHeadersFactory() {
        @Override
        public HttpHeaders newHeaders() {
            return new CountedHeaders();
        }

        @Override
        public HttpHeaders newEmptyHeaders() {
            return new CountedHeaders();
        }
    };

    private static final class CountedHeaders extends DefaultHttpHeaders {
        @Override
        public HttpHeaders add(CharSequence name, Object value) {
            if (size() >= MAX_HEADERS) {
                throw new TooLongHttpHeaderException("more than " + MAX_HEADERS + " headers");
            }
            return super.add(name, value);
        }
    }
}
