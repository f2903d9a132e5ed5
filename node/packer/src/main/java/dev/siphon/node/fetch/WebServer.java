package dev.siphon.node.fetch;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Optional;

/// Requests a file, or the rest of one.
final class WebServer implements AutoCloseable {
    private static final int MAX_REDIRECTS = 10;

    private final HttpClient client;
    private final FetchLimits limits;

    WebServer(FetchLimits limits) {
        this.limits = limits;
        client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(limits.connect())
                .build();
    }

    /// Returns the response to a request for `address` from byte `from` on, if the server still has the version
    /// `validator`; for the whole file if `from` is 0. Follows redirects.
    ///
    /// @throws DriverException NotFound (NOT_FOUND), AccessDenied (PERMISSION_DENIED), BackendFault (INTERNAL) if
    ///     the server's status is final
    /// @throws IOException if a retry may help
    HttpResponse<ResponseBody> get(WebAddress address, long from, String validator)
            throws IOException, InterruptedException {
        WebAddress at = address;
        for (int redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
            HttpRequest.Builder request =
                    HttpRequest.newBuilder(at.uri()).timeout(limits.stall()).header("Accept-Encoding", "identity");
            if (from > 0) {
                request.header("Range", "bytes=" + from + "-").header("If-Range", validator);
            }
            HttpResponse<ResponseBody> response = send(request.build());
            boolean taken = false;
            try {
                Optional<String> location = redirect(response);
                if (location.isEmpty()) {
                    check(at, response.statusCode());
                    taken = true;
                    return response;
                }
                at = at.redirected(location.get());
            } finally {
                if (!taken) {
                    response.body().close();
                }
            }
        }
        throw new DriverException.BackendFault(
                address.shown() + " redirects more than " + MAX_REDIRECTS + " times, at last to " + at.shown());
    }

    /// Sends a request. The JDK's client throws IllegalArgumentException for headers that it cannot parse.
    private HttpResponse<ResponseBody> send(HttpRequest request) throws IOException, InterruptedException {
        try {
            return client.send(request, _ -> new ResponseBody());
        } catch (IllegalArgumentException e) {
            throw new IOException("its answer is not HTTP: " + QuotedText.of(String.valueOf(e.getMessage())), e);
        }
    }

    private static Optional<String> redirect(HttpResponse<ResponseBody> response) {
        return switch (response.statusCode()) {
            case 301, 302, 303, 307, 308 -> response.headers().firstValue("Location");
            default -> Optional.empty();
        };
    }

    private static void check(WebAddress at, int status) throws IOException {
        switch (status) {
            case 200, 206, 416 -> {
                // the caller handles these
            }
            case 401, 403, 407 ->
                throw new DriverException.AccessDenied(at.shown() + " refuses access: status " + status);
            case 404, 410 -> throw new DriverException.NotFound("there is no " + at.shown() + ": status " + status);
            default -> {
                if (status >= 500 || status == 408 || status == 429) {
                    throw new IOException("status " + status);
                }
                throw new DriverException.BackendFault(at.shown() + " answers with status " + status);
            }
        }
    }

    @Override
    public void close() {
        client.shutdownNow();
    }
}
