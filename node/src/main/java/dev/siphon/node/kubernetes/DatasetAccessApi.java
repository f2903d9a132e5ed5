package dev.siphon.node.kubernetes;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.Quoted;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.SealedSecret;
import dev.siphon.node.inline.InlineDatasets;
import dev.siphon.node.mount.CephCredentials;
import dev.siphon.node.pod.Pod;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/// Asks the controller for datasets by objects [DatasetAccess]. They belong to their pods, so that Kubernetes
/// removes them; the keys in them are sealed for this process alone, with a key of its own for each question.
///
/// Connects for each, since pods are rare.
public final class DatasetAccessApi implements InlineDatasets {
    /// Server-side apply: makes the object, or changes it, in one request.
    private static final String APPLY = "application/apply-patch+yaml";

    /// RFC 4918, section 11.2; how an API server calls an object that its admission policies refuse.
    private static final int HTTP_UNPROCESSABLE = 422;

    private static final Duration LONGEST = Duration.ofSeconds(20);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(25);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(400);

    private final ApiAccess access;
    private final NodeId node;

    /// @param node on which the pods are
    public DatasetAccessApi(ApiAccess access, NodeId node) {
        this.access = access;
        this.node = node;
    }

    @Override
    public Opened open(String volume, Pod pod, String dataset, Duration limit) {
        SealedSecret.Reader reader = new SealedSecret.Reader(); // forgotten with the key
        DatasetAccess.Asked asked = new DatasetAccess.Asked(
                dataset,
                node.name(),
                pod.name(),
                pod.uid(),
                reader.publicKey(),
                UUID.randomUUID().toString());
        String path = "/apis/" + DatasetAccess.GROUP + "/" + DatasetAccess.VERSION + "/namespaces/" + pod.namespace()
                + "/" + DatasetAccess.PLURAL + "/" + volume;
        long end = System.nanoTime() + Collections.min(List.of(limit, LONGEST)).toNanos();
        try (ApiConnection api = ApiConnection.to(access)) {
            ApiConnection.Reply reply = api.send(
                    path + "?fieldManager=siphon-node&force=true",
                    request -> request.patch(APPLY, object(volume, pod, asked).toString()));
            Duration pause = FIRST_PAUSE;
            while (true) {
                Optional<DatasetAccess.Answer> answer =
                        answer(reply).filter(found -> found.request().equals(asked.request()));
                if (answer.isPresent()) {
                    return opened(answer.get(), reader);
                }
                if (System.nanoTime() > end) {
                    throw new DriverException.BackendUnavailable("the controller has not said within "
                            + LONGEST.toSeconds() + " s whether the pod may read dataset " + Quoted.of(dataset)
                            + ": look at siphon-controller");
                }
                LockSupport.parkNanos(pause.toNanos());
                pause = Collections.min(List.of(pause.multipliedBy(2), LONGEST_PAUSE));
                reply = api.get(path);
                if (reply.status() == HttpURLConnection.HTTP_NOT_FOUND) {
                    throw new DriverException.NotFound("pod " + pod.namespace() + "/" + pod.name() + " is gone");
                }
            }
        }
    }

    private static JsonObject object(String volume, Pod pod, DatasetAccess.Asked asked) {
        JsonObject owner = new JsonObject();
        owner.addProperty("apiVersion", "v1");
        owner.addProperty("kind", "Pod");
        owner.addProperty("name", pod.name());
        owner.addProperty("uid", pod.uid());
        JsonArray owners = new JsonArray();
        owners.add(owner);
        JsonObject metadata = new JsonObject();
        metadata.addProperty("name", volume);
        metadata.addProperty("namespace", pod.namespace());
        metadata.add("ownerReferences", owners);
        JsonObject object = new JsonObject();
        object.addProperty("apiVersion", DatasetAccess.GROUP + "/" + DatasetAccess.VERSION);
        object.addProperty("kind", DatasetAccess.KIND);
        object.add("metadata", metadata);
        object.add("spec", asked.toSpec());
        return object;
    }

    private static Optional<DatasetAccess.Answer> answer(ApiConnection.Reply reply) {
        return switch (reply.status()) {
            case HttpURLConnection.HTTP_OK, HttpURLConnection.HTTP_CREATED -> status(reply.body());
            case HttpURLConnection.HTTP_NOT_FOUND ->
                throw new DriverException.InUse(
                        "the controller cannot be asked, since the pod's namespace is gone, or the"
                                + " cluster has no " + DatasetAccess.PLURAL + "." + DatasetAccess.GROUP
                                + ", which the chart makes: " + reply.describe());
            case HttpURLConnection.HTTP_FORBIDDEN, HttpURLConnection.HTTP_UNAUTHORIZED, HTTP_UNPROCESSABLE ->
                throw new DriverException.InUse("this node may not ask the controller for a dataset: "
                        + reply.describe() + "; the chart has the rules that it needs");
            default ->
                throw new DriverException.BackendUnavailable("the controller cannot be asked: " + reply.describe());
        };
    }

    private static Optional<DatasetAccess.Answer> status(String body) {
        try {
            return Optional.ofNullable(
                            JsonParser.parseString(body).getAsJsonObject().get("status"))
                    .filter(JsonElement::isJsonObject)
                    .flatMap(status -> DatasetAccess.Answer.ofStatus(status.getAsJsonObject()));
        } catch (JsonParseException | IllegalStateException e) {
            throw new DriverException.BackendFault("the Kubernetes API's answer is no " + DatasetAccess.KIND, e);
        }
    }

    private static Opened opened(DatasetAccess.Answer answer, SealedSecret.Reader reader) {
        return switch (answer) {
            case DatasetAccess.Refused refused -> throw refused.why();
            case DatasetAccess.Given given ->
                new Opened(
                        given.volume(),
                        given.context(),
                        CephCredentials.fromSecrets(Map.of(
                                "userID", given.userId(), "userKey", reader.open(given.sealedKey(), given.about()))));
        };
    }
}
