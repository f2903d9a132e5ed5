package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.dataset.DatasetVolumes;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Answers nodes that ask for datasets which pods name themselves or have claims for: looks whether there is such a pod
/// on that node, whether its namespace may read the dataset, and seals the dataset's key for the node that asked.
///
/// Each question is answered once. One that could not be is asked again by the node, under another number.
final class DatasetRequests implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DatasetRequests.class);

    /// Where they are.
    static final String PATH = "apis/" + DatasetAccess.GROUP + "/" + DatasetAccess.VERSION + "/" + DatasetAccess.PLURAL;

    /// RFC 4918, section 11.2; of a JSON patch whose test fails.
    private static final int HTTP_UNPROCESSABLE = 422;

    private static final String METADATA = "metadata";
    private static final String SPEC = "spec";
    private static final String REQUEST = "request";
    private static final String VOLUME = "volume";

    /// The custom resource's definition bounds each part of a `spec` to 256 characters.
    private static final Keep PARTS =
            new Keep(Set.of("metadata.namespace", "metadata.name", SPEC, "status.request", "status.volume"), 100);

    /// A watch ends by then, so that one whose other side is gone without a word does not last, and begins anew with
    /// all objects.
    private static final Duration WATCH = Duration.ofMinutes(4);

    /// Beyond [#WATCH].
    private static final Duration MORE = Duration.ofSeconds(15);

    private static final Duration AGAIN = Duration.ofSeconds(3);

    private final KubernetesApi api;
    private final String driver;
    private final Opener datasets;
    private final RecentPods pods = new RecentPods(System::nanoTime);
    private final DatasetQuestions questions = new DatasetQuestions(this::answer, this::list);

    private volatile boolean closed;

    /// Why nodes get no answer, as it was last told.
    private volatile Optional<String> told = Optional.empty();

    private volatile Optional<BackgroundTasks.Task> following = Optional.empty();

    /// Decides who gets what, as [DatasetVolumes#open] and [DatasetVolumes#openClaimed].
    @FunctionalInterface
    interface Opener {
        DatasetVolumes.Opened open(String dataset, DatasetVolumes.Reader pod);
    }

    /// @param driver the CSI driver's name, which pods write beside the dataset's
    DatasetRequests(KubernetesApi api, String driver, Opener datasets) {
        this.api = api;
        this.driver = driver;
        this.datasets = datasets;
    }

    /// Begins, and does not wait for the API server.
    DatasetRequests start(BackgroundTasks tasks) {
        following = Optional.of(tasks.every("dataset-requests", Duration.ZERO, AGAIN, this::follow));
        return this;
    }

    @Override
    public void close() {
        closed = true;
        following.ifPresent(BackgroundTasks.Task::close);
        questions.close();
    }

    /// A watch that names no version begins with all that is there (Kubernetes API Concepts, "Semantics for watch").
    private void follow() {
        try {
            boolean isThere = api.watch(
                    "watch DatasetAccesses",
                    PATH + "?watch=true&timeoutSeconds=" + WATCH.toSeconds(),
                    WATCH.plus(MORE),
                    this::events);
            if (!isThere) {
                throw new DriverException.BackendUnavailable(
                        "the cluster has no custom resource datasetaccesses.siphon.dev: the chart makes it");
            }
            told = Optional.empty();
        } catch (DriverException notNow) {
            Optional<String> why = Optional.ofNullable(notNow.getMessage());
            if (!why.equals(told) && !closed) {
                LOG.warn("nodes that ask for datasets get no answer: {}", notNow.getMessage());
            }
            told = why;
        }
    }

    private boolean events(InputStream body) throws IOException {
        ObjectParts.events(body, PARTS, event -> {
            if (event.type() == ObjectParts.Event.Type.ERROR) {
                throw new DriverException.BackendUnavailable("watch DatasetAccesses was ended by the API server");
            }
            if (event.isThere()) {
                take(event.object().kept());
            }
        });
        return true;
    }

    private void list() {
        try {
            boolean _ = ObjectParts.list(
                    api, "list DatasetAccesses", PATH + "?limit=250", PARTS, found -> take(found.kept()));
        } catch (DriverException notNow) {
            LOG.info("questions that had no room are found when the watch begins anew: {}", notNow.getMessage());
        }
    }

    private void take(JsonObject access) {
        String request = JsonParts.text(access, SPEC, REQUEST).orElse("");
        if (!request.isEmpty() && !JsonParts.text(access, "status", REQUEST).equals(Optional.of(request))) {
            questions.add(new DatasetQuestions.Question(
                    JsonParts.text(access, METADATA, "namespace").orElse(""),
                    JsonParts.text(access, METADATA, "name").orElse(""),
                    request,
                    JsonParts.object(access, SPEC).orElseGet(JsonObject::new),
                    JsonParts.text(access, "status", VOLUME)));
        }
    }

    private void answer(DatasetQuestions.Question question) {
        try {
            JsonObject status = answer(question.namespace(), question.name(), question.request(), question.spec())
                    .toStatus();
            if (!status.has(VOLUME)) {
                // a pod that is refused now may read what it was given before
                question.before().ifPresent(volume -> status.addProperty(VOLUME, volume));
            }
            patch(question, status);
        } catch (DriverException notNow) {
            LOG.warn("{} {} is not answered: {}", DatasetAccess.KIND, question.title(), notNow.getMessage());
        } catch (RuntimeException unforeseen) {
            LOG.error("a {} is not answered", DatasetAccess.KIND, unforeseen);
        }
    }

    /// What to answer a question.
    DatasetAccess.Answer answer(String namespace, String name, String request, JsonObject spec) {
        try {
            DatasetAccess.Asked asked = DatasetAccess.Asked.ofSpec(spec);
            RecentPods.Key key = new RecentPods.Key(namespace, asked.pod(), asked.podUid());
            InlinePod pod = pods.get(key, () -> InlinePod.read(api, driver, namespace, asked));
            VolumeId.Dataset.tryParse(asked.dataset())
                    .ifPresentOrElse(claimed -> pod.checkClaimed(name, claimed, asked), () -> pod.check(name, asked));
            DatasetVolumes.Opened opened =
                    datasets.open(asked.dataset(), new DatasetVolumes.Reader(namespace, name, asked.node()));
            LOG.atInfo()
                    .addKeyValue("dataset", asked.dataset())
                    .addKeyValue("pod", namespace + "/" + asked.pod())
                    .addKeyValue("node", asked.node())
                    .log("a pod reads a dataset");
            return DatasetAccess.Given.seal(
                    request,
                    asked.publicKey(),
                    opened.volume(),
                    opened.context(),
                    opened.key().userId(),
                    opened.key().secret());
        } catch (DriverException refused) {
            return new DatasetAccess.Refused(request, refused);
        }
    }

    /// Replaces what an earlier answer said, unless the node has asked anew meanwhile.
    private void patch(DatasetQuestions.Question question, JsonObject status) {
        JsonObject asked = new JsonObject();
        asked.addProperty("op", "test");
        asked.addProperty("path", "/spec/request");
        asked.addProperty("value", question.request());
        JsonObject answered = new JsonObject();
        answered.addProperty("op", "add");
        answered.addProperty("path", "/status");
        answered.add("value", status);
        String change = "[" + asked + "," + answered + "]";
        boolean _ = api.send(
                "patch status of " + DatasetAccess.KIND + " " + question.title(),
                List.of(HttpURLConnection.HTTP_NOT_FOUND, HTTP_UNPROCESSABLE), // gone with its pod, or asked anew
                "apis/" + DatasetAccess.GROUP + "/" + DatasetAccess.VERSION + "/namespaces/" + question.namespace()
                        + "/" + DatasetAccess.PLURAL + "/" + question.name() + "/status",
                request -> request.patch("application/json-patch+json", change));
    }
}
