package dev.siphon.node.fetch;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpEntity;

/// A response whose body is still to be read. For one thread.
final class WebResponse implements AutoCloseable {
    private final HttpGet request;
    private final ClassicHttpResponse response;
    private final StallTimer timer;
    private final Duration stall;
    private final Pace pace;
    private final InputStream body;

    WebResponse(HttpGet request, ClassicHttpResponse response, StallTimer timer, FetchLimits limits, String shown)
            throws IOException {
        this.request = request;
        this.response = response;
        this.timer = timer;
        stall = limits.stall();
        pace = new Pace(shown, limits);
        HttpEntity entity = response.getEntity();
        body = entity == null ? InputStream.nullInputStream() : entity.getContent();
    }

    int status() {
        return response.getCode();
    }

    Optional<String> header(String name) {
        return Optional.ofNullable(response.getFirstHeader(name)).map(Header::getValue);
    }

    /// Reads some bytes.
    ///
    /// @return their number; negative at the end
    /// @throws IOException if none arrives in time, or the connection fails
    /// @throws FetchFailure TooSlow
    int read(byte[] target) throws IOException {
        long start = System.nanoTime();
        int read = timer.within(stall, request, () -> body.read(target));
        pace.received(Math.max(0, read), Duration.ofNanos(System.nanoTime() - start));
        return read;
    }

    /// Closes the connection, and does not wait for the rest.
    @Override
    public void close() {
        request.cancel();
        try {
            response.close();
        } catch (IOException _) {
            // the connection is gone, and nothing more is wanted from it
        }
    }
}
