package dev.siphon.node.fetch;

import dev.siphon.csi.DriverException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Lists and reads the objects of a folder in a bucket. For several threads.
public final class Bucket implements AutoCloseable {
    /// A page has at most 1000 keys of at most 1 KiB, and three times that encoded.
    private static final int MAX_PAGE_BYTES = 8 << 20;

    private static final int READ_BYTES = 256 * 1024;
    private static final int OK = 200;
    private static final int PARTIAL = 206;
    private static final int BAD_REQUEST = 400;
    private static final int PRECONDITION_FAILED = 412;

    private final BucketLocation location;
    private final FetchLimits limits;
    private final WebServer server;

    public Bucket(BucketLocation location, FetchLimits limits) {
        this.location = location;
        this.limits = limits;
        server = new WebServer(limits, location.rules());
    }

    /// Takes the bytes of an object.
    public interface Target {
        /// Takes the first `length` of `bytes`, at `offset` of the object.
        void write(long offset, byte[] bytes, int length);
    }

    /// An object, and its name below the folder.
    ///
    /// @param name the rest of its key
    public record Listed(BucketObject object, String name) {}

    /// The objects of the folder, page by page. If the folder is an object, it is the only one.
    public final class Listing {
        private final List<Listed> page = new ArrayList<>();
        private Iterator<Listed> rest = page.iterator();
        private String token = "";
        private boolean isBegun;

        private Listing() {}

        /// Returns the next object; empty at the end.
        ///
        /// @throws DriverException NotFound (NOT_FOUND) if there is none at all; AccessDenied
        ///     (PERMISSION_DENIED), BackendUnavailable (UNAVAILABLE), InvalidRequest (INVALID_ARGUMENT) by the
        ///     server's answer
        /// @throws FetchFailure ForbiddenAddress, TooSlow
        public synchronized Optional<Listed> next() {
            while (!rest.hasNext()) {
                if (isBegun && token.isEmpty()) {
                    return Optional.empty();
                }
                turn();
            }
            return Optional.of(rest.next());
        }

        private void turn() {
            page.clear();
            String folder = location.prefix().isEmpty() ? "" : location.prefix() + "/";
            BucketPage found = page(folder, token);
            for (BucketObject each : found.objects()) {
                if (!each.key().startsWith(folder)) {
                    throw new DriverException.InvalidRequest(
                            location.shown() + " lists an object that is not in this directory");
                }
                if (each.key().length() > folder.length()) {
                    page.add(new Listed(each, each.key().substring(folder.length())));
                }
            }
            if (!isBegun && page.isEmpty() && found.next().isEmpty()) {
                page.add(alone());
            }
            if (found.next().equals(token) && !token.isEmpty()) {
                throw new DriverException.InvalidRequest(location.shown() + " lists the same objects without end");
            }
            isBegun = true;
            token = found.next();
            rest = page.iterator();
        }

        private Listed alone() {
            String key = location.prefix();
            return (key.isEmpty() ? List.<BucketObject>of() : page(key, "").objects())
                    .stream()
                            .filter(each -> each.key().equals(key))
                            .findFirst()
                            .map(each -> new Listed(each, key.substring(key.lastIndexOf('/') + 1)))
                            .orElseThrow(() -> new DriverException.NotFound(
                                    "there is no object in " + location.shown() + ": check bucket and prefix"));
        }
    }

    public Listing list() {
        return new Listing();
    }

    private BucketPage page(String prefix, String token) {
        Map<String, String> query = new HashMap<>(Map.of("list-type", "2", "encoding-type", "url", "prefix", prefix));
        if (!token.isEmpty()) {
            query.put("continuation-token", token);
        }
        WebAddress address = location.list(query);
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        repeated(address, () -> {
            body.reset();
            try (WebResponse response = send(address, Map.of())) {
                if (response.status() != OK) {
                    throw new IOException("status " + response.status());
                }
                byte[] buffer = new byte[READ_BYTES];
                for (int read = response.read(buffer); read >= 0; read = response.read(buffer)) {
                    body.write(buffer, 0, read);
                    if (body.size() > MAX_PAGE_BYTES) {
                        throw new DriverException.InvalidRequest(
                                "the list of " + location.shown() + " is longer than any list of S3");
                    }
                }
            }
        });
        return BucketPage.parse(body.toByteArray(), location.shown());
    }

    /// Reads an object of the size and version that the list has. A cut connection continues where it ended.
    ///
    /// @throws DriverException as [Listing#next]
    /// @throws FetchFailure SourceUnavailable if it has changed since; ForbiddenAddress, TooSlow
    public void read(BucketObject object, Target target) {
        repeated(location.object(object.key()), new ObjectRead(object, target));
    }

    /// Reads one object, in as many attempts as it takes.
    private final class ObjectRead implements Attempt {
        private final BucketObject object;
        private final WebAddress address;
        private final Target target;
        private long done;

        ObjectRead(BucketObject object, Target target) {
            this.object = object;
            this.target = target;
            address = location.object(object.key());
        }

        @Override
        public void run() throws IOException {
            try (WebResponse response = send(address, headers(object, done))) {
                if (response.status() == PRECONDITION_FAILED) {
                    throw new FetchFailure(
                            FetchFailure.Reason.SOURCE_UNAVAILABLE,
                            address.shown() + " has changed since it was listed: try again once nobody writes there");
                }
                if (response.status() != (done > 0 ? PARTIAL : OK)) {
                    done = 0;
                    throw new IOException("it does not continue where it stopped: status " + response.status());
                }
                byte[] buffer = new byte[READ_BYTES];
                for (int read = response.read(buffer); read >= 0; read = response.read(buffer)) {
                    if (read > object.bytes() - done) {
                        throw new FetchFailure(
                                FetchFailure.Reason.MALFORMED,
                                address.shown() + " has more than the " + object.bytes() + " bytes that its list says");
                    }
                    target.write(done, buffer, read);
                    done += read;
                }
            }
            if (done != object.bytes()) {
                throw new IOException("it ended after " + done + " of " + object.bytes() + " bytes");
            }
        }

        @Override
        public long done() {
            return done;
        }
    }

    private static Map<String, String> headers(BucketObject object, long from) {
        Map<String, String> headers = new HashMap<>();
        if (!object.tag().isEmpty()) {
            headers.put("If-Match", object.tag());
        }
        if (from > 0) {
            headers.put("Range", "bytes=" + from + "-");
        }
        return headers;
    }

    private WebResponse send(WebAddress address, Map<String, String> headers) throws IOException {
        WebResponse response = server.send(address, location.key().sign(address, location.region(), headers));
        boolean taken = false;
        try {
            checkPlace(response.status());
            WebServer.check(address, response.status());
            taken = true;
            return response;
        } finally {
            if (!taken) {
                response.close();
            }
        }
    }

    /// Reports the answers of S3 that mean another region or endpoint.
    private void checkPlace(int status) {
        if (status == BAD_REQUEST || status / 100 == 3) {
            throw new FetchFailure(
                    status == BAD_REQUEST ? FetchFailure.Reason.WRONG_KEY : FetchFailure.Reason.NOT_FOUND,
                    location.shown() + " answers with status " + status + ": check its endpoint, region and keys");
        }
    }

    private interface Attempt {
        void run() throws IOException;

        /// Returns how far it has come, in bytes.
        default long done() {
            return 0;
        }
    }

    private void repeated(WebAddress address, Attempt attempt) {
        int failures = 0;
        while (true) {
            long before = attempt.done();
            try {
                attempt.run();
                return;
            } catch (IOException e) {
                failures = attempt.done() > before ? 1 : failures + 1;
                if (failures >= limits.attempts()) {
                    throw new DriverException.BackendUnavailable(
                            address.shown() + " failed " + failures + " times in a row, at last: " + e.getMessage(), e);
                }
                pause(failures);
            }
        }
    }

    private void pause(int failures) {
        try {
            boolean _ = new CountDownLatch(1).await(limits.pauseAfter(failures).toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("interrupted while " + location.shown() + " was read", e);
        }
    }

    @Override
    public void close() {
        server.close();
    }
}
