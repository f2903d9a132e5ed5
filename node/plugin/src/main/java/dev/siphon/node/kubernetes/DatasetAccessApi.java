package dev.siphon.node.kubernetes;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.EncryptedSecret;
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
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/// Asks the controller for datasets by objects [DatasetAccess]. They belong to their pods, so that Kubernetes
/// removes them; the keys in them are encrypted for this process alone, with a key of its own for each question.
///
/// All of them use one client, which is there while any waits: then certificates that were replaced are read anew.
/// [WaitingQuestions] bounds how many wait.
public final class DatasetAccessApi implements InlineDatasets {
    /// Server-side apply: makes the object, or changes it, in one request.
    private static final String APPLY = "application/apply-patch+yaml";

    /// RFC 4918, section 11.2; how an API server calls an object that its admission policies refuse.
    private static final int HTTP_UNPROCESSABLE = 422;

    private static final Duration LONGEST = Duration.ofSeconds(20);
    private static final int REQUESTS_AT_ONCE = 8;
    private static final Duration FIRST_PAUSE = Duration.ofMillis(25);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(400);

    private final ApiAccess access;
    private final NodeId node;
    private final WaitingQuestions waiting = new WaitingQuestions();
    private final Semaphore requests = new Semaphore(REQUESTS_AT_ONCE, true);

    /// Under this object's lock, like [#users].
    private Optional<ApiConnection> connection = Optional.empty();

    private int users;

    /// @param node on which the pods are
    public DatasetAccessApi(ApiAccess access, NodeId node) {
        this.access = access;
        this.node = node;
    }

    @Override
    public Reply ask(String volume, Pod pod, String dataset, Duration limit) {
        long end = System.nanoTime() + Collections.min(List.of(limit, LONGEST)).toNanos();
        try (WaitingQuestions.Question question = waiting.begin(pod)) {
            ApiConnection api = connect();
            try {
                return ask(api, question, new Wanted(volume, pod, dataset, end));
            } finally {
                disconnect();
            }
        }
    }

    private synchronized ApiConnection connect() {
        ApiConnection open = connection.orElseGet(() -> ApiConnection.to(access));
        connection = Optional.of(open);
        users++;
        return open;
    }

    private synchronized void disconnect() {
        users--;
        if (users == 0) {
            connection.ifPresent(ApiConnection::close);
            connection = Optional.empty();
        }
    }

    /// @param end by [System#nanoTime], when nobody waits any more
    private record Wanted(String volume, Pod pod, String dataset, long end) {
        String path() {
            return "/apis/" + DatasetAccess.GROUP + "/" + DatasetAccess.VERSION + "/namespaces/" + pod.namespace() + "/"
                    + DatasetAccess.PLURAL + "/" + volume;
        }
    }

    private Reply ask(ApiConnection api, WaitingQuestions.Question question, Wanted wanted) {
        Pod pod = wanted.pod();
        EncryptedSecret.Reader reader = new EncryptedSecret.Reader(); // forgotten with the key
        DatasetAccess.Asked asked = new DatasetAccess.Asked(
                wanted.dataset(),
                node.name(),
                pod.name(),
                pod.uid(),
                reader.publicKey(),
                UUID.randomUUID().toString());
        ApiConnection.Reply reply = inTurn(
                wanted.end(),
                () -> api.send(
                        wanted.path() + "?fieldManager=siphon-node&force=true",
                        request -> request.patch(
                                APPLY, object(wanted.volume(), pod, asked).toString())));
        Duration pause = FIRST_PAUSE;
        while (true) {
            Optional<DatasetAccess.Answer> answer =
                    answer(reply).filter(found -> found.request().equals(asked.request()));
            if (answer.isPresent()) {
                return reply(answer.get(), reader);
            }
            if (System.nanoTime() > wanted.end()) {
                DriverException late = new DriverException.BackendUnavailable(
                        "the controller has not said in time whether the pod may read dataset "
                                + QuotedText.of(wanted.dataset()) + ": check siphon-controller");
                return new Reply.Unanswered(late, true);
            }
            question.pause(pause);
            pause = Collections.min(List.of(pause.multipliedBy(2), LONGEST_PAUSE));
            reply = inTurn(wanted.end(), () -> api.get(wanted.path()));
            if (reply.status() == HttpURLConnection.HTTP_NOT_FOUND) {
                throw new DriverException.NotFound("pod " + pod.namespace() + "/" + pod.name() + " is gone");
            }
        }
    }

    /// Few requests at once: each has a connection.
    private ApiConnection.Reply inTurn(long end, Supplier<ApiConnection.Reply> request) {
        try {
            if (!requests.tryAcquire(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS)) {
                throw new DriverException.BackendUnavailable(
                        "the Kubernetes API is slow: other pods' questions about datasets still wait for it; retry");
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("interrupted while waiting for the Kubernetes API");
        }
        try {
            return request.get();
        } finally {
            requests.release();
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
                throw new DriverException.InUse("the controller cannot be asked: the pod's namespace is gone, or the"
                        + " cluster has no " + DatasetAccess.PLURAL + "." + DatasetAccess.GROUP
                        + ", which the chart installs: " + reply.describe());
            case HttpURLConnection.HTTP_FORBIDDEN, HttpURLConnection.HTTP_UNAUTHORIZED, HTTP_UNPROCESSABLE ->
                throw new DriverException.InUse("this node may not ask the controller for a dataset: "
                        + reply.describe() + "; the chart contains the RBAC rules for it");
            default ->
                throw new DriverException.BackendUnavailable("the controller cannot be asked: " + reply.describe());
        };
    }

    static Optional<DatasetAccess.Answer> status(String body) {
        try {
            return Optional.ofNullable(
                            JsonParser.parseString(body).getAsJsonObject().get("status"))
                    .filter(JsonElement::isJsonObject)
                    .flatMap(status -> DatasetAccess.Answer.ofStatus(status.getAsJsonObject()));
        } catch (JsonParseException | IllegalStateException e) {
            throw new DriverException.BackendFault("the Kubernetes API's answer is not a " + DatasetAccess.KIND, e);
        }
    }

    private static Reply reply(DatasetAccess.Answer answer, EncryptedSecret.Reader reader) {
        return switch (answer) {
            case DatasetAccess.Refused refused -> unanswered(refused.why());
            case DatasetAccess.Given given ->
                new Reply.Answered(new Opened(
                        given.volume(),
                        given.context(),
                        CephCredentials.fromSecrets(Map.of(
                                "userID",
                                given.userId(),
                                "userKey",
                                reader.decrypt(given.encryptedKey(), given.about())))));
        };
    }

    private static Reply unanswered(DriverException why) {
        return switch (why) {
            case DriverException.BackendUnavailable _, DriverException.DeadlinePassed _ ->
                new Reply.Unanswered(why, false);
            default -> throw why;
        };
    }
}
