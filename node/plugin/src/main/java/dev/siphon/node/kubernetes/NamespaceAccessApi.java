package dev.siphon.node.kubernetes;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants.GroupKey;
import dev.siphon.node.grant.NamespacePlaces;
import java.net.HttpURLConnection;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/// The object `NamespaceAccess` of a namespace, which the controller alone writes. One request for each question.
public final class NamespaceAccessApi implements NamespacePlaces, AutoCloseable {
    /// Of an object with 1,000 accounts and 1,000 datasets, whose names are 253 characters at most.
    private static final int MOST_BYTES = 1 << 20;

    /// The name of a namespace (Kubernetes, "Object Names and IDs": RFC 1123 label).
    private static final Pattern NAMESPACE = Pattern.compile("[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?");

    private final ApiAccess access;
    private Optional<ApiConnection> connection = Optional.empty();

    public NamespaceAccessApi(ApiAccess access) {
        this.access = access;
    }

    @Override
    public Places of(String namespace) {
        if (!NAMESPACE.matcher(namespace).matches()) {
            return new Places(Set.of(), 0);
        }
        ApiConnection.Reply reply = connection()
                .get("/apis/siphon.dev/v1alpha1/namespaces/" + namespace + "/namespaceaccesses/siphon", MOST_BYTES);
        return switch (reply.status()) {
            case HttpURLConnection.HTTP_OK -> parse(reply.body());
            case HttpURLConnection.HTTP_NOT_FOUND -> new Places(Set.of(), 0);
            default ->
                throw new DriverException.BackendUnavailable("what namespace " + namespace
                        + " may use is not known: its NamespaceAccess cannot be read: " + reply.describe());
        };
    }

    private static Places parse(String body) {
        try {
            JsonObject status = Optional.ofNullable(
                            JsonParser.parseString(body).getAsJsonObject().getAsJsonObject("status"))
                    .orElseGet(JsonObject::new);
            Set<GroupKey> groups = new HashSet<>();
            if (status.has("accounts")) {
                for (JsonElement account : status.getAsJsonArray("accounts")) {
                    GroupKey.parse(account.getAsJsonObject().get("volumes").getAsString())
                            .ifPresent(groups::add);
                }
            }
            return new Places(
                    groups,
                    status.has("moreAccounts") ? status.get("moreAccounts").getAsInt() : 0);
        } catch (JsonParseException | IllegalStateException | ClassCastException | NumberFormatException e) {
            throw new DriverException.BackendUnavailable("the Kubernetes API's answer is not a NamespaceAccess", e);
        }
    }

    private synchronized ApiConnection connection() {
        ApiConnection open = connection.orElseGet(() -> ApiConnection.to(access));
        connection = Optional.of(open);
        return open;
    }

    @Override
    public synchronized void close() {
        connection.ifPresent(ApiConnection::close);
        connection = Optional.empty();
    }
}
