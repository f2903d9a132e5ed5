package dev.siphon.node.kubernetes;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.dataset.DatasetReplica;
import dev.siphon.node.warm.ReplicaOrders;
import java.net.HttpURLConnection;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What the controller wants, as objects [DatasetReplica] of this node: listed, and then watched (Kubernetes API
/// Concepts, "Efficient detection of changes").
///
/// A watch ends every few minutes, so that one whose other side is gone without a word does not last.
public final class DatasetReplicaApi implements ReplicaOrders {
    private static final Logger LOG = LoggerFactory.getLogger(DatasetReplicaApi.class);
    private static final String PATH =
            "/apis/" + DatasetReplica.GROUP + "/" + DatasetReplica.VERSION + "/" + DatasetReplica.PLURAL;
    private static final String MERGE = "application/merge-patch+json";

    /// Objects in one answer: some hundred kilobytes at most.
    private static final int PAGE = 100;

    private static final Duration WATCH = Duration.ofMinutes(4);

    /// Beyond [#WATCH].
    private static final Duration MORE = Duration.ofSeconds(15);

    private static final Duration AGAIN = Duration.ofSeconds(3);
    private static final String METADATA = "metadata";
    private static final String ITEMS = "items";

    private final ApiAccess access;
    private final NodeId node;
    private final BackgroundTasks tasks;

    /// Why nobody could say what is wanted, as it was last told.
    private volatile Optional<String> told = Optional.empty();

    /// @param node whose orders they are
    public DatasetReplicaApi(ApiAccess access, NodeId node, BackgroundTasks tasks) {
        this.access = access;
        this.node = node;
        this.tasks = tasks;
    }

    @Override
    public Following follow(Follower follower) {
        AtomicBoolean closed = new AtomicBoolean();
        BackgroundTasks.Task task =
                tasks.every("dataset-replicas", Duration.ZERO, AGAIN, () -> followOrTell(follower, closed::get));
        return () -> {
            closed.set(true);
            task.close();
        };
    }

    private void followOrTell(Follower follower, BooleanSupplier closed) {
        try (ApiConnection api = ApiConnection.to(access)) {
            follow(api, follower);
            told = Optional.empty();
        } catch (DriverException notNow) {
            Optional<String> why = Optional.ofNullable(notNow.getMessage());
            if (!why.equals(told) && !closed.getAsBoolean()) {
                LOG.atInfo().addKeyValue("reason", notNow.getMessage()).log("cannot find out what to warm here");
            }
            told = why;
        }
    }

    private void follow(ApiConnection api, Follower follower) {
        String mine = "?fieldSelector=" + encoded(DatasetReplica.NODE_FIELD + "=" + node.name());
        Map<String, DatasetReplica.Order> orders = new HashMap<>();
        JsonObject metadata;
        String more = "";
        do {
            JsonObject page = page(api, mine + "&limit=" + PAGE + more);
            Json.objects(page, ITEMS).forEach(item -> order(item).ifPresent(order -> orders.put(name(item), order)));
            metadata = Json.object(page, METADATA).orElseThrow(() -> malformed("a list without metadata"));
            more = Json.text(metadata, "continue")
                    .filter(token -> !token.isEmpty())
                    .map(token -> "&continue=" + encoded(token))
                    .orElse("");
        } while (!more.isEmpty());
        // the same of all pages
        String version =
                Json.text(metadata, "resourceVersion").orElseThrow(() -> malformed("a list without a resourceVersion"));
        follower.all(orders);
        int status = api.lines(
                PATH + mine + "&watch=true&timeoutSeconds=" + WATCH.toSeconds() + "&resourceVersion="
                        + encoded(version),
                WATCH.plus(MORE),
                line -> changed(object(line), follower));
        if (status != HttpURLConnection.HTTP_OK) {
            throw new DriverException.BackendUnavailable(
                    "the objects " + DatasetReplica.KIND + " cannot be watched: HTTP " + status);
        }
    }

    private static JsonObject page(ApiConnection api, String query) {
        ApiConnection.Reply reply = api.get(PATH + query);
        if (reply.status() != HttpURLConnection.HTTP_OK) {
            throw new DriverException.BackendUnavailable("the objects " + DatasetReplica.KIND + " cannot be listed: "
                    + reply.describe() + "; the chart contains what this needs");
        }
        JsonObject page = object(reply.body());
        if (!(page.get(ITEMS) instanceof JsonArray)) {
            throw malformed("a list without items"); // which is not an empty one
        }
        return page;
    }

    private static DriverException malformed(String what) {
        return new DriverException.BackendUnavailable("the API server of Kubernetes sent " + what + " of the objects "
                + DatasetReplica.KIND + "; check what answers at its address");
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private void changed(JsonObject event, Follower follower) {
        JsonObject object = Json.object(event, "object").orElseThrow(() -> malformed("an event without an object"));
        switch (Json.text(event, "type").orElseThrow(() -> malformed("an event without a type"))) {
            case "ADDED", "MODIFIED" -> order(object).ifPresent(order -> follower.changed(name(object), order));
            case "DELETED" -> follower.gone(name(object));
            // what was seen last is too old: all is listed anew
            case "ERROR" -> throw new DriverException.BackendUnavailable("a watch was ended by the API server");
            default -> {
                // of a later Kubernetes
            }
        }
    }

    /// What is wanted of this node; empty if it is another's, or no order.
    private Optional<DatasetReplica.Order> order(JsonObject object) {
        try {
            return Json.object(object, "spec")
                    .map(DatasetReplica.Order::ofSpec)
                    .filter(order -> order.node().equals(node.name()));
        } catch (DriverException wrong) {
            LOG.atWarn()
                    .addKeyValue("object", name(object))
                    .addKeyValue("reason", wrong.getMessage())
                    .log("cannot read an order of the controller");
            return Optional.empty();
        }
    }

    private static String name(JsonObject object) {
        return Json.object(object, METADATA)
                .flatMap(metadata -> Json.text(metadata, "name"))
                .orElseThrow(() -> malformed("one without a name"));
    }

    private static JsonObject object(String text) {
        try {
            return JsonParser.parseString(text).getAsJsonObject();
        } catch (JsonParseException | IllegalStateException e) {
            throw new DriverException.BackendUnavailable("the Kubernetes API's answer is not an object", e);
        }
    }

    @Override
    public void report(String name, DatasetReplica.Report report) {
        JsonObject change = new JsonObject();
        change.add("status", report.toStatus());
        try (ApiConnection api = ApiConnection.to(access)) {
            ApiConnection.Reply reply = api.send(
                    PATH + "/" + name + "/status?fieldManager=siphon-node",
                    request -> request.patch(MERGE, change.toString()));
            if (reply.status() != HttpURLConnection.HTTP_OK && reply.status() != HttpURLConnection.HTTP_NOT_FOUND) {
                throw new DriverException.BackendUnavailable(
                        "the status of " + DatasetReplica.KIND + " " + name + " was rejected: " + reply.describe());
            }
        }
    }
}
