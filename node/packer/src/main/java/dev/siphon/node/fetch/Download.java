package dev.siphon.node.fetch;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import java.io.IOException;
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

    private final Source source;
    private final DownloadDirectory file;
    private final FetchLimits limits;
    private final FetchListener listener;
    private RunningDigest digest = new RunningDigest();

    /// What to download.
    ///
    /// @param accepted the digests that the file may have, as the server sends it; none for any
    public record Source(WebAddress address, List<Digest> accepted, Authorization key, AddressRules rules) {
        public Source {
            accepted = List.copyOf(accepted);
        }

        /// A file with a known digest, from anywhere.
        public static Source of(WebAddress address, Digest expected) {
            return new Source(address, List.of(expected), Authorization.NONE, AddressRules.UNLIMITED);
        }

        private boolean accepts(Digest found) {
            return accepted.isEmpty() || accepted.contains(found);
        }
    }

    public Download(Source source, DownloadDirectory file, FetchLimits limits, FetchListener listener) {
        this.source = source;
        this.file = file;
        this.limits = limits;
        this.listener = listener;
    }

    /// Downloads the file; it is complete and on disk on return. May be repeated: downloads nothing twice.
    ///
    /// @throws FetchFailure WrongChecksum if the digest does not match, and then deletes the data; TooSlow and
    ///     ForbiddenAddress, if that is limited
    /// @throws DriverException BackendUnavailable (UNAVAILABLE) if the server does not answer or stalls, and then
    ///     keeps the data; NotFound (NOT_FOUND), AccessDenied (PERMISSION_DENIED) by the server's status;
    ///     QuotaExhausted (RESOURCE_EXHAUSTED) if there is no room
    public void run() {
        boolean left = file.length() > 0;
        digestWhatIsThere();
        if (left && source.accepted().contains(digest.sofar())) {
            return;
        }
        if (file.validator().isEmpty()) {
            begin("");
        }
        boolean resumed = file.length() > 0;
        fetch();
        if (resumed && !source.accepts(digest.sofar())) {
            // data of an earlier process may have been damaged since
            begin("");
            fetch();
        }
        Digest found = digest.sofar();
        if (!source.accepts(found)) {
            begin("");
            throw new FetchFailure(
                    FetchFailure.Reason.WRONG_CHECKSUM,
                    source.address().shown() + " has the SHA-256 digest " + found + ", not the expected "
                            + source.accepted().getFirst() + ": check which is right");
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
        try (WebServer server = new WebServer(limits, source.rules())) {
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
                                source.address().shown() + " failed " + failures + " times in a row, at last after "
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
            throw new DriverException.BackendUnavailable(
                    "interrupted while " + source.address().shown() + " was fetched", e);
        }
    }

    private void attempt(WebServer server) throws IOException {
        if (file.length() > 0 && file.validator().isEmpty()) {
            begin("");
        }
        try (WebResponse response = server.get(source.address(), source.key(), file.length(), file.validator())) {
            OptionalLong all = accept(response);
            if (all.isPresent()) {
                file.makeSureOfRoom(all.getAsLong() - file.length());
            }
            take(response, all);
            if (all.isPresent() && file.length() != all.getAsLong()) {
                throw new IOException("it ended after " + file.length() + " of " + all.getAsLong() + " bytes");
            }
        }
    }

    /// Returns the file's size, if the server reports it. On return the existing data is the start of what follows.
    private OptionalLong accept(WebResponse response) throws IOException {
        if (response.status() == 200) {
            begin(validator(response));
            return contentLength(response);
        }
        Matcher range = RANGE.matcher(response.header("Content-Range").orElse(""));
        if (response.status() == 206
                && range.matches()
                && Long.parseLong(range.group(1)) == file.length()
                && isSameVersion(response)) {
            return OptionalLong.of(Long.parseLong(range.group(2)));
        }
        begin("");
        throw new IOException("it does not resume where it stopped: status " + response.status());
    }

    private static OptionalLong contentLength(WebResponse response) throws IOException {
        try {
            return response.header("Content-Length").stream()
                    .mapToLong(Long::parseLong)
                    .findFirst();
        } catch (NumberFormatException e) {
            throw new IOException("its Content-Length is not a number", e);
        }
    }

    /// Checks the ETag, because not every server respects `If-Range`.
    private boolean isSameVersion(WebResponse response) {
        Optional<String> tag = response.header("ETag");
        return tag.isEmpty() || !file.validator().startsWith("\"") || tag.get().equals(file.validator());
    }

    /// Returns the value for `If-Range` (RFC 9110, 13.1.5): a strong tag, otherwise a time.
    private static String validator(WebResponse response) {
        String validator = response.header("ETag")
                .filter(tag -> tag.startsWith("\""))
                .or(() -> response.header("Last-Modified"))
                .orElse("");
        return response.header("Accept-Ranges").filter("none"::equals).isPresent() ? "" : validator;
    }

    private void take(WebResponse response, OptionalLong all) throws IOException {
        byte[] buffer = new byte[READ_BYTES];
        for (int read = response.read(buffer); read >= 0; read = response.read(buffer)) {
            digest.add(ByteBuffer.wrap(buffer, 0, read));
            file.append(ByteBuffer.wrap(buffer, 0, read));
            listener.downloaded(file.length(), all.orElse(-1));
        }
    }
}
