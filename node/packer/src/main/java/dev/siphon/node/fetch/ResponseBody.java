package dev.siphon.node.fetch;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/// Receives a response piece by piece, with a timeout for each: a stream of the JDK would wait forever. Requests
/// one piece at a time, to bound memory.
final class ResponseBody implements HttpResponse.BodySubscriber<ResponseBody>, AutoCloseable {
    private sealed interface Event {}

    private record Piece(List<ByteBuffer> bytes) implements Event {}

    private record Failure(Throwable cause) implements Event {}

    private record End() implements Event {}

    private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
    private final AtomicReference<Flow.Subscription> subscription = new AtomicReference<>();

    @Override
    public CompletionStage<ResponseBody> getBody() {
        return CompletableFuture.completedStage(this);
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription.set(given);
        given.request(1);
    }

    @Override
    public void onNext(List<ByteBuffer> bytes) {
        events.add(new Piece(bytes));
    }

    @Override
    public void onError(Throwable cause) {
        events.add(new Failure(cause));
    }

    @Override
    public void onComplete() {
        events.add(new End());
    }

    /// Returns the next piece; empty at the end.
    ///
    /// @throws HttpTimeoutException if none arrives in time
    /// @throws IOException if the connection fails
    Optional<List<ByteBuffer>> next(Duration stall) throws IOException, InterruptedException {
        Event event = events.poll(stall.toMillis(), TimeUnit.MILLISECONDS);
        if (event == null) {
            throw new HttpTimeoutException("no byte arrived for " + stall.toSeconds() + " s");
        }
        return switch (event) {
            case Piece piece -> {
                subscription.get().request(1);
                yield Optional.of(piece.bytes());
            }
            case End _ -> Optional.empty();
            case Failure failure ->
                throw new IOException(String.valueOf(failure.cause().getMessage()), failure.cause());
        };
    }

    /// Cancels the rest of the response.
    @Override
    public void close() {
        Flow.Subscription given = subscription.get();
        if (given != null) {
            given.cancel();
        }
    }
}
