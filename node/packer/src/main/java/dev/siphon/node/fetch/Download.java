package dev.siphon.node.fetch;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import java.io.IOException;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Downloads one file, and resumes what an earlier attempt or process left.
public final class Download {
    private static final int READ_BYTES = 1 << 20;
    /// A failed attempt that received less than this adds to the failures in a row.
    private static final long PROGRESS_BYTES = 1 << 20;

    private static final Pattern RANGE = Pattern.compile("bytes ([0-9]{1,18})-[0-9]{1,18}/([0-9]{1,18})");

    private final WebAddress address;
    private final Digest expected;
    private final DownloadDirectory file;
    private final FetchLimits limits;
    private final FetchListener listener;
    private RunningDigest digest = new RunningDigest();

    /// @param expected the digest of the file as the server sends it
    public Download(
            WebAddress address, Digest expected, DownloadDirectory file, FetchLimits limits, FetchListener listener) {
        this.address = address;
        this.expected = expected;
        this.file = file;
        this.limits = limits;
        this.listener = listener;
    }

    /// Downloads the file; it is complete and on disk on return. May be repeated: downloads nothing twice.
    ///
    /// @throws DriverException BackendFault (INTERNAL) if the digest does not match, and then deletes the data;
    ///     BackendUnavailable (UNAVAILABLE) if the server does not answer or stalls, and then keeps the data;
    ///     NotFound (NOT_FOUND), AccessDenied (PERMISSION_DENIED) by the server's status; QuotaExhausted
    ///     (RESOURCE_EXHAUSTED) if there is no room
    public void run() {
        boolean left = file.length() > 0;
        digestWhatIsThere();
        if (left && digest.sofar().equals(expected)) {
            return;
        }
        if (file.validator().isEmpty()) {
            begin("");
        }
        boolean resumed = file.length() > 0;
        fetch();
        if (resumed && !digest.sofar().equals(expected)) {
            // data of an earlier process may have been damaged since
            begin("");
            fetch();
        }
        Digest found = digest.sofar();
        if (!found.equals(expected)) {
            begin("");
            throw new DriverException.BackendFault(address.shown() + " has the SHA-256 digest " + found
                    + ", not the expected " + expected + ": check which is right");
        }
        file.flush();
    }

    private void begin(String validator) {
        file.begin(validator);
        digest = new RunningDigest();
    }

    private void digestWhatIsThere() {
        ByteBuffer bytes = ByteBuffer.allocate(READ_BYTES);
        long at = 0;
        for (int read = file.read(at, bytes); read > 0; read = file.read(at, bytes.clear())) {
            digest.add(bytes.flip());
            at += read;
        }
    }

    private void fetch() {
        int failures = 0;
        try (WebServer server = new WebServer(limits)) {
            while (true) {
                long before = file.length();
                try {
                    attempt(server);
                    return;
                } catch (IOException e) {
                    failures = file.length() >= before + PROGRESS_BYTES ? 1 : failures + 1;
                    if (failures >= limits.attempts()) {
                        file.flush();
                        throw new DriverException.BackendUnavailable(
                                address.shown() + " failed " + failures + " times in a row, at last after "
                                        + file.length() + " bytes: " + e.getMessage()
                                        + "; the same command resumes where it stopped",
                                e);
                    }
                    boolean _ = new CountDownLatch(1)
                            .await(limits.pauseAfter(failures).toMillis(), TimeUnit.MILLISECONDS);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("interrupted while " + address.shown() + " was fetched", e);
        }
    }

    private void attempt(WebServer server) throws IOException, InterruptedException {
        if (file.length() > 0 && file.validator().isEmpty()) {
            begin("");
        }
        HttpResponse<ResponseBody> response = server.get(address, file.length(), file.validator());
        try (ResponseBody body = response.body()) {
            OptionalLong all = accept(response);
            if (all.isPresent()) {
                file.makeSureOfRoom(all.getAsLong() - file.length());
            }
            take(body, all);
            if (all.isPresent() && file.length() != all.getAsLong()) {
                throw new IOException("it ended after " + file.length() + " of " + all.getAsLong() + " bytes");
            }
        }
    }

    /// Returns the file's size, if the server reports it. On return the existing data is the start of what follows.
    private OptionalLong accept(HttpResponse<ResponseBody> response) throws IOException {
        HttpHeaders headers = response.headers();
        if (response.statusCode() == 200) {
            begin(validator(headers));
            return contentLength(headers);
        }
        Matcher range = RANGE.matcher(headers.firstValue("Content-Range").orElse(""));
        if (response.statusCode() == 206
                && range.matches()
                && Long.parseLong(range.group(1)) == file.length()
                && isSameVersion(headers)) {
            return OptionalLong.of(Long.parseLong(range.group(2)));
        }
        begin("");
        throw new IOException("it does not resume where it stopped: status " + response.statusCode());
    }

    private static OptionalLong contentLength(HttpHeaders headers) throws IOException {
        try {
            return headers.firstValueAsLong("Content-Length");
        } catch (NumberFormatException e) {
            throw new IOException("its Content-Length is not a number", e);
        }
    }

    /// Checks the ETag, because not every server respects `If-Range`.
    private boolean isSameVersion(HttpHeaders headers) {
        Optional<String> tag = headers.firstValue("ETag");
        return tag.isEmpty() || !file.validator().startsWith("\"") || tag.get().equals(file.validator());
    }

    /// Returns the value for `If-Range` (RFC 9110, 13.1.5): a strong tag, otherwise a time.
    private static String validator(HttpHeaders headers) {
        String validator = headers.firstValue("ETag")
                .filter(tag -> tag.startsWith("\""))
                .or(() -> headers.firstValue("Last-Modified"))
                .orElse("");
        return headers.firstValue("Accept-Ranges").filter("none"::equals).isPresent() ? "" : validator;
    }

    private void take(ResponseBody body, OptionalLong all) throws IOException, InterruptedException {
        for (Optional<List<ByteBuffer>> next = body.next(limits.stall());
                next.isPresent();
                next = body.next(limits.stall())) {
            for (ByteBuffer bytes : next.get()) {
                digest.add(bytes.duplicate());
                file.append(bytes);
            }
            listener.downloaded(file.length(), all.orElse(-1));
        }
    }
}
