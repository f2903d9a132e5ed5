package dev.siphon.node.kubernetes;

import com.google.gson.JsonParseException;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.MalformedJsonException;
import dev.siphon.csi.DriverException;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;

/// Lists of claims and slices, within one time, and of so many bytes: what is in a claim anybody writes who may make
/// one
/// in his namespace. Objects are read as they come, and none is kept.
final class ClaimsQuestion {
    /// There is no point in a request with less time.
    static final Duration SHORTEST = Duration.ofMillis(10);

    /// In all answers together: some ten thousand claims, or a hundred with all that a driver may be told in one.
    static final long MOST_BYTES = 32L << 20;

    /// Objects in one answer, which the API server has in memory as a whole.
    private static final int PAGE = 100;

    private static final String GROUP = "/apis/resource.k8s.io/v1";

    private final ApiConnection api;
    private final long end;
    private long leftBytes = MOST_BYTES;
    private String more = "";

    /// @param limit the time from now on
    ClaimsQuestion(ApiConnection api, Duration limit) {
        this.api = api;
        this.end = System.nanoTime() + limit.toNanos();
    }

    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    /// Reads what is in a list, however many answers it takes (Kubernetes API Concepts, "Retrieving large results sets
    /// in chunks").
    ///
    /// @param path below the group's
    /// @param selector which of those there, as `&NAME=VALUE`; empty for all
    /// @throws DriverException.Unsupported (UNIMPLEMENTED) if this node may not, or there is none of it
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if that cannot be had in time
    /// @throws DriverException.BackendFault (INTERNAL) if that has more than [#MOST_BYTES]
    void list(String path, String selector, JsonFields.Reading each) {
        String continued = "";
        do {
            String url = GROUP + path + "?limit=" + PAGE + selector + continued;
            Duration left = Duration.ofNanos(end - System.nanoTime());
            if (left.compareTo(SHORTEST) < 0) {
                throw new DriverException.BackendUnavailable("the Kubernetes API takes too long to list the claims");
            }
            more = "";
            api.read(url, left, (status, body) -> {
                check(path, status, body);
                page(CappedStream.whole(body, "what is at " + path, leftBytes), each);
                return status;
            });
            continued = more.isEmpty() ? "" : "&continue=" + encoded(more);
        } while (!continued.isEmpty());
    }

    private static void check(String path, int status, InputStream body) throws IOException {
        if (status == HttpURLConnection.HTTP_OK) {
            return;
        }
        String said = ApiConnection.reply(path, status, body, 0).describe();
        throw status == HttpURLConnection.HTTP_FORBIDDEN || status == HttpURLConnection.HTTP_NOT_FOUND
                ? new DriverException.Unsupported(said)
                : new DriverException.BackendUnavailable("claims cannot be read: " + said);
    }

    private void page(CappedStream body, JsonFields.Reading each) throws IOException {
        try {
            JsonReader json = new JsonReader(new InputStreamReader(body, StandardCharsets.UTF_8));
            json.beginObject();
            while (json.hasNext()) {
                switch (json.nextName()) {
                    case "items" -> JsonFields.array(json, each);
                    case "metadata" ->
                        more = JsonFields.texts(json, Set.of("continue")).getOrDefault("continue", "");
                    default -> json.skipValue();
                }
            }
            json.endObject();
        } catch (MalformedJsonException | EOFException | JsonParseException | IllegalStateException e) {
            throw new DriverException.BackendUnavailable("the Kubernetes API's answer is not a list of claims", e);
        } finally {
            leftBytes -= body.bytes();
        }
    }
}
