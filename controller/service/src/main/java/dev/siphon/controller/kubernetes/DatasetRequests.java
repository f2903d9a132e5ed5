package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.dataset.DatasetVolumes;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Handles node requests for datasets of pods, named directly or through claims. It checks that such a pod is on
/// that node and that its namespace may read the dataset. Then it encrypts the dataset's key for the requesting
/// node.
///
/// Each request is handled once. If it gets no reply, the node retries with a new request id.
final class DatasetRequests implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DatasetRequests.class);

    private static final String METADATA = "metadata";
    private static final String SPEC = "spec";
    private static final String REQUEST = "request";
    private static final String VOLUME = "volume";

    private final KubernetesApi api;
    private final String driver;
    private final DatasetAccesses accesses;
    private final DatasetOpener datasets;
    private final RecentPods pods = new RecentPods(System::nanoTime);
    private final DatasetQuestions questions = new DatasetQuestions(this::answer, this::list);

    private volatile Optional<BackgroundTasks.Task> following = Optional.empty();

    /// Decides who may open what, as [DatasetVolumes#open] and [DatasetVolumes#openClaimed].
    @FunctionalInterface
    interface DatasetOpener {
        DatasetVolumes.Opened open(String dataset, DatasetVolumes.AskingPod pod);
    }

    /// @param driver the CSI driver's name, which pods give together with the dataset's
    DatasetRequests(KubernetesApi api, String driver, DatasetAccesses accesses, DatasetOpener datasets) {
        this.api = api;
        this.accesses = accesses;
        this.driver = driver;
        this.datasets = datasets;
    }

    /// Starts to handle requests, without waiting for the API server.
    DatasetRequests start(BackgroundTasks tasks) {
        accesses.read(this::take);
        following = Optional.of(accesses.follow(tasks));
        questions.find(); // also those listed before this reader was set
        return this;
    }

    @Override
    public void close() {
        following.ifPresent(BackgroundTasks.Task::close);
        questions.close();
    }

    private void list() {
        try {
            accesses.list(this::take);
        } catch (DriverException notNow) {
            LOG.info("dropped questions are answered once nodes ask again: {}", notNow.getMessage());
        }
    }

    private void take(JsonObject access) {
        String request = JsonParts.text(access, SPEC, REQUEST).orElse("");
        if (!request.isEmpty() && !JsonParts.text(access, "status", REQUEST).equals(Optional.of(request))) {
            questions.add(new DatasetQuestions.WaitingAccess(
                    JsonParts.text(access, METADATA, "namespace").orElse(""),
                    JsonParts.text(access, METADATA, "name").orElse(""),
                    request,
                    JsonParts.object(access, SPEC).orElseGet(JsonObject::new),
                    JsonParts.text(access, "status", VOLUME)));
        }
    }

    private void answer(DatasetQuestions.WaitingAccess question) {
        try {
            JsonObject status = answer(question.namespace(), question.name(), question.request(), question.spec())
                    .toStatus();
            if (!status.has(VOLUME)) {
                // a refused pod may still read the volume that it was given before
                question.before().ifPresent(volume -> status.addProperty(VOLUME, volume));
            }
            patch(question, status);
        } catch (DriverException notNow) {
            LOG.warn("{} {} is not answered: {}", DatasetAccess.KIND, question.title(), notNow.getMessage());
        } catch (RuntimeException unforeseen) {
            LOG.error("a {} is not answered", DatasetAccess.KIND, unforeseen);
        }
    }

    /// Decides a request and returns the reply.
    DatasetAccess.Answer answer(String namespace, String name, String request, JsonObject spec) {
        try {
            DatasetAccess.Asked asked = DatasetAccess.Asked.ofSpec(spec);
            RecentPods.PodKey key = new RecentPods.PodKey(namespace, asked.pod(), asked.podUid());
            InlinePod pod = pods.get(key, () -> InlinePod.read(api, driver, namespace, asked));
            VolumeId.DatasetVolume.tryParse(asked.dataset())
                    .ifPresentOrElse(claimed -> pod.checkClaimed(name, claimed, asked), () -> pod.check(name, asked));
            DatasetVolumes.Opened opened =
                    datasets.open(asked.dataset(), new DatasetVolumes.AskingPod(namespace, name, asked.node()));
            LOG.atInfo()
                    .addKeyValue("dataset", asked.dataset())
                    .addKeyValue("pod", namespace + "/" + asked.pod())
                    .addKeyValue("node", asked.node())
                    .log("a pod reads a dataset");
            return DatasetAccess.Given.encrypt(
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

    /// Replaces an earlier reply. A request gets none if it was deleted with its pod, or replaced by a newer one of
    /// the node.
    private void patch(DatasetQuestions.WaitingAccess question, JsonObject status) {
        api.replaceStatus(
                DatasetAccess.KIND + " " + question.title(),
                "apis/" + DatasetAccess.GROUP + "/" + DatasetAccess.VERSION + "/namespaces/" + question.namespace()
                        + "/" + DatasetAccess.PLURAL + "/" + question.name(),
                "/spec/request",
                question.request(),
                status);
    }
}
