package dev.siphon.csi.server;

import com.google.gson.JsonObject;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.server.JsonCall.Reply;
import io.grpc.Status;
import io.grpc.netty.shaded.io.netty.buffer.Unpooled;
import io.grpc.netty.shaded.io.netty.channel.ChannelFutureListener;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.SimpleChannelInboundHandler;
import io.grpc.netty.shaded.io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.grpc.netty.shaded.io.netty.handler.codec.http.FullHttpRequest;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpHeaderNames;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpHeaderValues;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpResponse;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpResponseStatus;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpVersion;
import io.grpc.netty.shaded.io.netty.handler.codec.http.QueryStringDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One connection to a [JsonServer]: one request, one answer, and its end.
final class JsonExchange extends SimpleChannelInboundHandler<FullHttpRequest> {
    private static final Logger LOG = LoggerFactory.getLogger(JsonExchange.class);
    private static final int UNAUTHORIZED = 401;

    private final JsonCall.Pages pages;
    private final Optional<TokenDoor> door;
    private final Places places;
    private final Executor calls;
    private final Duration arrival;
    private boolean taken;

    /// @param door who is let in; empty for everybody who could connect
    /// @param places where the connection has one
    /// @param arrival how long a request may take to arrive as a whole, however it trickles
    JsonExchange(JsonCall.Pages pages, Optional<TokenDoor> door, Places places, Executor calls, Duration arrival) {
        this.pages = pages;
        this.door = door;
        this.places = places;
        this.calls = calls;
        this.arrival = arrival;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext connection) {
        Future<?> late = connection
                .executor()
                .schedule(
                        () -> {
                            if (!taken) {
                                var _ = connection.close();
                            }
                        },
                        arrival.toMillis(),
                        TimeUnit.MILLISECONDS);
        var _ = connection.channel().closeFuture().addListener(_ -> late.cancel(false));
    }

    @Override
    protected void channelRead0(ChannelHandlerContext connection, FullHttpRequest request) {
        if (taken) {
            return; // the connection ends with the answer to the first
        }
        taken = true;
        Optional<String> token = Optional.ofNullable(request.headers().get(HttpHeaderNames.AUTHORIZATION));
        String method = request.method().name();
        String target = request.uri();
        boolean broken = request.decoderResult().isFailure();
        calls.execute(() -> {
            long start = System.nanoTime();
            Reply reply = broken
                    ? refused(Status.INVALID_ARGUMENT.withDescription("this is no HTTP"))
                    : admitted(connection, token, () -> answer(connection, method, target));
            LOG.atInfo()
                    .addKeyValue("method", method)
                    // without the query: somebody puts a token there one day
                    .addKeyValue("path", target.split("\\?", 2)[0])
                    .addKeyValue("status", reply.status())
                    .addKeyValue("duration_ms", (System.nanoTime() - start) / 1_000_000)
                    .log("http");
            send(connection, reply);
        });
    }

    private interface Answering {
        Reply answer();
    }

    private Reply admitted(ChannelHandlerContext connection, Optional<String> token, Answering answering) {
        try {
            if (door.isPresent() && !door.get().admits(token)) {
                return reply(
                        UNAUTHORIZED,
                        Status.UNAUTHENTICATED.withDescription(
                                "this needs the header `Authorization: Bearer TOKEN`, with the node's token"));
            }
            // not before: who has no token could leave the refusal unread, and keep its place
            if (!places.admit(connection.channel())) {
                return refused(Status.UNAVAILABLE.withDescription("its connection has made room for another"));
            }
            return answering.answer();
        } catch (RuntimeException | Error e) {
            // an Error too: whoever asked must not be left waiting
            return refused(ErrorMapping.toStatus("HTTP", e));
        }
    }

    private Reply answer(ChannelHandlerContext connection, String method, String target) {
        return pages.answer(new JsonCall(
                method,
                path(target),
                parameters(target),
                () -> !connection.channel().isActive()));
    }

    private static List<String> path(String target) {
        try {
            return Arrays.stream(new QueryStringDecoder(target).path().split("/", -1))
                    .skip(1)
                    .toList();
        } catch (IllegalArgumentException e) {
            throw new DriverException.InvalidRequest("this is no path: " + e.getMessage());
        }
    }

    private static Map<String, String> parameters(String target) {
        try {
            return new QueryStringDecoder(target)
                    .parameters().entrySet().stream()
                            .collect(Collectors.toMap(
                                    Map.Entry::getKey, each -> each.getValue().getLast()));
        } catch (IllegalArgumentException e) {
            throw new DriverException.InvalidRequest("this is no query: " + e.getMessage());
        }
    }

    private static Reply refused(Status status) {
        return reply(
                switch (status.getCode()) {
                    case INVALID_ARGUMENT, OUT_OF_RANGE -> 400;
                    case PERMISSION_DENIED -> 403;
                    case NOT_FOUND -> 404;
                    case ALREADY_EXISTS, ABORTED, FAILED_PRECONDITION -> 409;
                    case UNIMPLEMENTED -> 501;
                    case UNAVAILABLE -> 503;
                    case DEADLINE_EXCEEDED -> 504;
                    case RESOURCE_EXHAUSTED -> 507;
                    default -> 500;
                },
                status);
    }

    private static Reply reply(int http, Status status) {
        JsonObject body = new JsonObject();
        body.addProperty("code", status.getCode().name());
        body.addProperty("message", Optional.ofNullable(status.getDescription()).orElse("no message"));
        return new Reply(http, body);
    }

    private static void send(ChannelHandlerContext connection, Reply reply) {
        if (!connection.channel().isActive()) {
            return; // nobody waits any more, or this process ends
        }
        byte[] body = (reply.body() + "\n").getBytes(StandardCharsets.UTF_8);
        HttpResponse response = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(reply.status()), Unpooled.wrappedBuffer(body));
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_JSON)
                .set(HttpHeaderNames.CONTENT_LENGTH, body.length)
                .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        var _ = connection.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
    }

    /// A peer that hangs up, sends no HTTP, or never ends its request.
    @Override
    public void exceptionCaught(ChannelHandlerContext connection, Throwable why) {
        LOG.atDebug().setCause(why).log("an HTTP connection failed");
        var _ = connection.close();
    }
}
