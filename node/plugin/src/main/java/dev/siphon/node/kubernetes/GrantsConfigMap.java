package dev.siphon.node.kubernetes;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.node.grant.PublishedGrants;
import java.net.HttpURLConnection;
import java.util.Optional;

/// The grants in the ConfigMap that the controller publishes them in: `data` with one entry, `grants.json`.
/// Whoever may read it learns names of accounts and namespaces, and no secret.
public final class GrantsConfigMap implements PublishedGrants, AutoCloseable {
    /// The object's name.
    public static final String NAME = "siphon-grants";

    /// The entry with [Grants#toJson].
    public static final String KEY = "grants.json";

    /// Of the answer: what a ConfigMap holds (1 MiB), its quotes escaped, and what is written around it.
    private static final int MOST_BYTES = 3 << 20;

    private final ApiAccess access;
    private final String namespace;
    private Optional<ApiConnection> connection = Optional.empty();

    /// Does nothing yet: the client's classes take as long to load as the first RPC may take.
    ///
    /// @param namespace where the ConfigMap is
    public GrantsConfigMap(ApiAccess access, String namespace) {
        this.access = access;
        this.namespace = namespace;
    }

    @Override
    public Grants read() {
        ApiConnection.Reply reply =
                connection().get("/api/v1/namespaces/" + namespace + "/configmaps/" + NAME, MOST_BYTES);
        return switch (reply.status()) {
            case HttpURLConnection.HTTP_OK ->
                parse(entry(reply.body())
                        .orElseThrow(() -> new DriverException.NotFound(here() + " has no entry " + KEY)));
            case HttpURLConnection.HTTP_NOT_FOUND ->
                throw new DriverException.NotFound(
                        here() + " does not exist; the controller creates it if it has the same flag");
            default -> throw new DriverException.BackendUnavailable(here() + " cannot be read: " + reply.describe());
        };
    }

    private synchronized ApiConnection connection() {
        ApiConnection open = connection.orElseGet(() -> ApiConnection.to(access));
        connection = Optional.of(open);
        return open;
    }

    private Grants parse(String text) {
        try {
            return Grants.parse(text);
        } catch (DriverException.BackendFault e) {
            throw new DriverException.BackendFault(here() + ": " + e.getMessage(), e);
        }
    }

    static Optional<String> entry(String body) {
        try {
            return field(JsonParser.parseString(body).getAsJsonObject(), "data")
                    .flatMap(data -> field(data.getAsJsonObject(), KEY))
                    .map(text -> text.getAsJsonPrimitive().getAsString());
        } catch (JsonParseException | IllegalStateException e) {
            throw new DriverException.BackendFault("the Kubernetes API's answer is not a ConfigMap", e);
        }
    }

    private static Optional<JsonElement> field(JsonObject json, String name) {
        return Optional.ofNullable(json.get(name)).filter(value -> !value.isJsonNull());
    }

    private String here() {
        return "ConfigMap " + NAME + " of namespace " + namespace;
    }

    @Override
    public synchronized void close() {
        connection.ifPresent(ApiConnection::close);
        connection = Optional.empty();
    }
}
