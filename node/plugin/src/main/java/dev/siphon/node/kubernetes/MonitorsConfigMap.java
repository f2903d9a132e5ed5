package dev.siphon.node.kubernetes;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Monitors;
import dev.siphon.node.mount.CurrentMonitors;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The monitors in the ConfigMap that the controller publishes them in: an entry for each cluster, in the form of
/// `mon_host`. It is asked when something is mounted and the last answer is older than a minute; while nobody answers,
/// the last one serves. Those that come at once wait for one request.
public final class MonitorsConfigMap implements CurrentMonitors, AutoCloseable {
    /// The object's name.
    public static final String NAME = "siphon-monitors";

    private static final Logger LOG = LoggerFactory.getLogger(MonitorsConfigMap.class);
    private static final Duration FRESH = Duration.ofSeconds(60);

    private final ApiAccess access;
    private final String namespace;
    private final LongSupplier nanos;

    /// Under this object's lock, as are those below.
    private Optional<ApiConnection> connection = Optional.empty();

    private Map<String, Monitors> known = Map.of();

    /// When to ask again, by `nanos`; empty before the first time.
    private Optional<Long> next = Optional.empty();

    private boolean isSilent;

    /// Does nothing yet: the client's classes take as long to load as the first RPC may take.
    ///
    /// @param namespace where the ConfigMap is
    public MonitorsConfigMap(ApiAccess access, String namespace) {
        this(access, namespace, System::nanoTime);
    }

    MonitorsConfigMap(ApiAccess access, String namespace, LongSupplier nanos) {
        this.access = access;
        this.namespace = namespace;
        this.nanos = nanos;
    }

    @Override
    public synchronized Monitors of(String cluster, Monitors told) {
        long now = nanos.getAsLong();
        if (next.isEmpty() || now - next.get() >= 0) {
            ask();
            next = Optional.of(now + FRESH.toNanos());
        }
        return known.getOrDefault(cluster, told);
    }

    private void ask() {
        try {
            known = read();
            isSilent = false;
        } catch (DriverException e) {
            if (!isSilent) {
                LOG.atWarn()
                        .addKeyValue("reason", e.getMessage())
                        .log("cannot read the monitors' addresses; using the last known ones, or those of the volume");
            }
            isSilent = true;
        }
    }

    private Map<String, Monitors> read() {
        if (connection.isEmpty()) {
            connection = Optional.of(ApiConnection.to(access));
        }
        ApiConnection.Reply reply = connection.get().get("/api/v1/namespaces/" + namespace + "/configmaps/" + NAME);
        return switch (reply.status()) {
            case HttpURLConnection.HTTP_OK -> entries(reply.body());
            // a controller of an earlier version makes none
            case HttpURLConnection.HTTP_NOT_FOUND -> Map.of();
            default ->
                throw new DriverException.BackendUnavailable(
                        "ConfigMap " + NAME + " of namespace " + namespace + " cannot be read: " + reply.describe());
        };
    }

    /// What no version of this driver has written is left out: the volume's own monitors serve then.
    static Map<String, Monitors> entries(String body) {
        try {
            Map<String, Monitors> found = new TreeMap<>();
            JsonObject data = Json.object(JsonParser.parseString(body).getAsJsonObject(), "data")
                    .orElseGet(JsonObject::new);
            data.keySet()
                    .forEach(cluster -> Json.text(data, cluster)
                            .flatMap(MonitorsConfigMap::parse)
                            .ifPresent(monitors -> found.put(cluster, monitors)));
            return found;
        } catch (JsonParseException | IllegalStateException e) {
            throw new DriverException.BackendFault("the Kubernetes API's answer is not a ConfigMap", e);
        }
    }

    private static Optional<Monitors> parse(String text) {
        try {
            return Optional.of(Monitors.parse(text));
        } catch (DriverException.InvalidRequest e) {
            LOG.atWarn().addKeyValue("reason", e.getMessage()).log("ConfigMap {} is malformed", NAME);
            return Optional.empty();
        }
    }

    @Override
    public synchronized void close() {
        connection.ifPresent(ApiConnection::close);
        connection = Optional.empty();
    }
}
