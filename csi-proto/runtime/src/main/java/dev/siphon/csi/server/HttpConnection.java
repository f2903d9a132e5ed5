package dev.siphon.csi.server;

import com.google.gson.JsonObject;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.server.HttpCall.Reply;
import io.grpc.Status;
import io.grpc.netty.shaded.io.netty.channel.ChannelFutureListener;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.SimpleChannelInboundHandler;
import io.grpc.netty.shaded.io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.grpc.netty.shaded.io.netty.handler.codec.http.DefaultHttpResponse;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpChunkedInput;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpContent;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpHeaderNames;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpHeaderValues;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpObject;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpRequest;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpResponse;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpResponseStatus;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpUtil;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpVersion;
import io.grpc.netty.shaded.io.netty.handler.codec.http.LastHttpContent;
import io.grpc.netty.shaded.io.netty.handler.codec.http.QueryStringDecoder;
import io.grpc.netty.shaded.io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.grpc.netty.shaded.io.netty.handler.codec.http.TooLongHttpLineException;
import io.grpc.netty.shaded.io.netty.handler.stream.ChunkedStream;
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
import org.slf4j.event.Level;

/// Serves one connection to an [HttpServer]: one request, one reply, then it closes. A connection is idle until its
/// request is admitted, and again once the reply is ready. A peer that does not read thus blocks no one.
final class HttpConnection extends SimpleChannelInboundHandler<HttpObject> {
    private static final Logger LOG = LoggerFactory.getLogger(HttpConnection.class);

    private final Service service;
    private Optional<HttpRequest> head = Optional.empty();
    private int bodyBytes;
    private boolean taken;
    private Optional<Future<?>> deadline = Optional.empty();

    /// Serves the requests on a socket.
    ///
    /// @param tls the TLS certificate; empty for no TLS
    /// @param auth decides which requests are allowed
    /// @param limit counts the connection
    /// @param calls runs the pages
    /// @param requests the log level of each request
    record Service(
            HttpCall.Pages pages,
            Optional<BearerTokenAuth> tls,
            HttpAuth auth,
            ConnectionLimit limit,
            Executor calls,
            Timeouts timeouts,
            Level requests) {}

    /// How long a connection waits for its peer.
    ///
    /// @param arrival time limit for the whole request, including TLS, however slowly it arrives
    /// @param answer time limit for the peer to read the whole reply
    record Timeouts(Duration arrival, Duration answer) {
        static final Timeouts USUAL = new Timeouts(Duration.ofSeconds(10), Duration.ofSeconds(5));
    }

    HttpConnection(Service service) {
        this.service = service;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext connection) {
        cutOffAfter(service.timeouts().arrival(), connection);
        var _ = connection.channel().closeFuture().addListener(_ -> deadline.ifPresent(timer -> timer.cancel(false)));
    }

    private void cutOffAfter(Duration time, ChannelHandlerContext connection) {
        deadline.ifPresent(timer -> timer.cancel(false));
        deadline = Optional.of(connection
                .executor()
                .schedule(() -> ConnectionLimit.cutOff(connection.channel()), time.toMillis(), TimeUnit.MILLISECONDS));
    }

    @Override
    protected void channelRead0(ChannelHandlerContext connection, HttpObject part) {
        if (taken) {
            return; // only the first request gets a reply
        }
        if (part.decoderResult().isFailure()) {
            refuse(connection, malformed(part.decoderResult().cause()));
            return;
        }
        if (part instanceof HttpRequest request) {
            head = Optional.of(request);
            if (HttpUtil.getContentLength(request, 0L) > HttpInput.MAX_BODY_BYTES) {
                refuse(connection, HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE);
            } else if (HttpUtil.is100ContinueExpected(request)) {
                var _ = connection.writeAndFlush(
                        new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE));
            }
        }
        if (!taken && part instanceof HttpContent content) {
            bodyBytes += content.content().readableBytes();
            if (bodyBytes > HttpInput.MAX_BODY_BYTES) {
                refuse(connection, HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE);
            } else if (content instanceof LastHttpContent) {
                take(connection, head.orElseThrow());
            }
        }
    }

    private static HttpResponseStatus malformed(Throwable why) {
        return switch (why) {
            case TooLongHttpHeaderException _ -> HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE;
            case TooLongHttpLineException _ -> HttpResponseStatus.REQUEST_URI_TOO_LONG;
            default -> HttpResponseStatus.BAD_REQUEST;
        };
    }

    private void refuse(ChannelHandlerContext connection, HttpResponseStatus status) {
        taken = true;
        send(connection, reply(status.code(), Status.INVALID_ARGUMENT.withDescription(status.reasonPhrase())));
    }

    private void take(ChannelHandlerContext connection, HttpRequest request) {
        taken = true;
        deadline.ifPresent(timer -> timer.cancel(false));
        Optional<String> token = Optional.ofNullable(request.headers().get(HttpHeaderNames.AUTHORIZATION));
        String method = request.method().name();
        String target = request.uri();
        service.calls().execute(() -> {
            long start = System.nanoTime();
            Reply reply = answer(connection, token, method, target);
            LOG.atLevel(service.requests())
                    .addKeyValue("method", method)
                    // without the query, which may hold a token
                    .addKeyValue("path", target.split("\\?", 2)[0])
                    .addKeyValue("status", reply.status())
                    .addKeyValue("duration_ms", (System.nanoTime() - start) / 1_000_000)
                    .log("http");
            connection.executor().execute(() -> send(connection, reply));
        });
    }

    private Reply answer(
            ChannelHandlerContext connection, Optional<String> authorization, String method, String target) {
        try {
            HttpCall call = new HttpCall(
                    method,
                    path(target),
                    parameters(target),
                    () -> !connection.channel().isActive());
            if (!service.auth().admits(call, authorization)) {
                return reply(
                        HttpResponseStatus.UNAUTHORIZED.code(),
                        Status.UNAUTHENTICATED.withDescription("this needs the header `Authorization: Bearer TOKEN`,"
                                + " with a token that is valid for this path"));
            }
            // not earlier: a peer without a token must not keep others out
            if (!service.limit().busy(connection.channel())) {
                return refused(
                        Status.UNAVAILABLE.withDescription("the connection was closed to make room for another"));
            }
            return service.pages().answer(call);
        } catch (RuntimeException | Error e) {
            // Errors too: the peer must get a reply
            return refused(ErrorMapping.toStatus("HTTP", e));
        }
    }

    private static List<String> path(String target) {
        try {
            return Arrays.stream(new QueryStringDecoder(target).path().split("/", -1))
                    .skip(1)
                    .toList();
        } catch (IllegalArgumentException e) {
            throw new DriverException.InvalidRequest("this is not a valid path: " + e.getMessage());
        }
    }

    private static Map<String, String> parameters(String target) {
        try {
            return new QueryStringDecoder(target)
                    .parameters().entrySet().stream()
                            .collect(Collectors.toMap(
                                    Map.Entry::getKey, each -> each.getValue().getLast()));
        } catch (IllegalArgumentException e) {
            throw new DriverException.InvalidRequest("this is not a valid query: " + e.getMessage());
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
        return Reply.json(http, body);
    }

    /// Runs on the connection's thread.
    private void send(ChannelHandlerContext connection, Reply reply) {
        if (!connection.channel().isActive()) {
            return; // the peer has gone, or this process ends
        }
        service.limit().idle(connection.channel());
        cutOffAfter(service.timeouts().answer(), connection);
        HttpResponse response =
                new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(reply.status()));
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, reply.contentType())
                .set(HttpHeaderNames.CONTENT_LENGTH, reply.body().size())
                .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        var _ = connection.write(response);
        // in chunks, as the peer reads: a large reply is in memory once, not once per connection
        var _ = connection
                .writeAndFlush(
                        new HttpChunkedInput(new ChunkedStream(reply.body().newInput())))
                .addListener(ChannelFutureListener.CLOSE);
    }

    /// Handles a peer that hangs up, does not speak HTTP, or never completes its request.
    @Override
    public void exceptionCaught(ChannelHandlerContext connection, Throwable why) {
        LOG.atDebug().setCause(why).log("an HTTP connection failed");
        var _ = connection.close();
    }
}
