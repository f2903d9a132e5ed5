package dev.siphon.node.kubernetes;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.csi.DriverException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/// Who may read metrics, as the cluster says: a TokenReview tells whose a token is, and a SubjectAccessReview whether
/// its owner may `get` the non-resource URL `/metrics`.
///
/// Anybody may send tokens, so one is reviewed at a time, in the order in which they came. Only who may read is
/// remembered, for a minute: tokens that are made up would push the others out.
public final class MetricsReaders implements AutoCloseable {
    private static final String TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews";
    private static final String ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    private static final Duration REMEMBERED = Duration.ofMinutes(1);

    /// How long a token waits for those before it; its own two requests have [ApiConnection#LIMIT] each.
    private static final Duration TURN = Duration.ofSeconds(2);

    private static final int MOST_REMEMBERED = 64;

    private final ApiAccess access;
    private final LongSupplier nanoTime;
    private final ReentrantLock turn = new ReentrantLock(true);
    private Optional<ApiConnection> connection = Optional.empty();

    /// When each is forgotten, by the digest of its token: what is in memory opens nothing. Under this map's lock.
    private final Map<String, Long> readers = new LinkedHashMap<>();

    public MetricsReaders(ApiAccess access) {
        this(access, System::nanoTime);
    }

    MetricsReaders(ApiAccess access, LongSupplier nanoTime) {
        this.access = access;
        this.nanoTime = nanoTime;
    }

    /// Whether the owner of `token` may read metrics.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the API does not say so in time
    public boolean admits(String token) {
        String digest = digest(token);
        if (isKnown(digest)) {
            return true;
        }
        boolean mine = false;
        try {
            mine = turn.tryLock(TURN.toMillis(), TimeUnit.MILLISECONDS);
            if (!mine) {
                throw new DriverException.BackendUnavailable("too many tokens wait for review; ask again");
            }
            // the one before may have been the same
            if (!isKnown(digest)) {
                if (!mayRead(token)) {
                    return false;
                }
                remember(digest);
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("interrupted", e);
        } finally {
            if (mine) {
                turn.unlock();
            }
        }
    }

    private boolean mayRead(String token) {
        JsonObject review = new JsonObject();
        review.addProperty("token", token);
        JsonObject reviewed = create(TOKEN_REVIEWS, "authentication.k8s.io/v1", "TokenReview", review);
        Optional<JsonObject> user = Json.object(reviewed, "user")
                .filter(each -> Json.text(each, "username").isPresent());
        if (!Json.isTrue(reviewed, "authenticated") || user.isEmpty()) {
            return false;
        }
        JsonObject asked = new JsonObject();
        asked.addProperty("path", "/metrics");
        asked.addProperty("verb", "get");
        JsonObject question = new JsonObject();
        question.add("nonResourceAttributes", asked);
        question.addProperty("user", Json.text(user.get(), "username").orElseThrow());
        for (String same : new String[] {"uid", "groups", "extra"}) {
            JsonElement value = user.get().get(same);
            if (value != null) {
                question.add(same, value);
            }
        }
        return Json.isTrue(
                create(ACCESS_REVIEWS, "authorization.k8s.io/v1", "SubjectAccessReview", question), "allowed");
    }

    /// @return the status of what was created
    private JsonObject create(String path, String version, String kind, JsonObject spec) {
        JsonObject object = new JsonObject();
        object.addProperty("apiVersion", version);
        object.addProperty("kind", kind);
        object.add("spec", spec);
        ApiConnection.Reply reply;
        try {
            reply = api().send(path, request -> request.post("application/json", object.toString()));
        } catch (DriverException.BackendUnavailable e) {
            close(); // the next one reads the API's certificates anew
            throw e;
        }
        try {
            Optional<JsonObject> status = reply.status() == 201
                    ? Json.object(JsonParser.parseString(reply.body()).getAsJsonObject(), "status")
                    : Optional.empty();
            return status.orElseThrow(() -> new DriverException.BackendUnavailable(
                    "the Kubernetes API did not create a " + kind + ": " + reply.describe()));
        } catch (JsonParseException | IllegalStateException e) {
            throw new DriverException.BackendUnavailable("the Kubernetes API's answer is not a " + kind, e);
        }
    }

    private synchronized ApiConnection api() {
        ApiConnection open = connection.orElseGet(() -> ApiConnection.to(access));
        connection = Optional.of(open);
        return open;
    }

    private boolean isKnown(String digest) {
        synchronized (readers) {
            return Optional.ofNullable(readers.get(digest))
                    .filter(end -> end - nanoTime.getAsLong() > 0)
                    .isPresent();
        }
    }

    private void remember(String digest) {
        synchronized (readers) {
            readers.remove(digest);
            if (readers.size() >= MOST_REMEMBERED) {
                readers.remove(readers.keySet().iterator().next());
            }
            readers.put(digest, nanoTime.getAsLong() + REMEMBERED.toNanos());
        }
    }

    private static String digest(String token) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has it", e);
        }
    }

    /// Ends its connection; a later question makes another.
    @Override
    public synchronized void close() {
        connection.ifPresent(ApiConnection::close);
        connection = Optional.empty();
    }
}
