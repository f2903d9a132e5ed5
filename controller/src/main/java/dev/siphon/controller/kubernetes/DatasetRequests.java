package dev.siphon.controller.kubernetes;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.dataset.DatasetVolumes;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.DatasetAccess;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.net.HttpURLConnection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Answers nodes that ask for datasets which pods name themselves: looks whether there is such a pod on that
/// node, whether its namespace may read the dataset, and seals the dataset's key for the node that asked.
///
/// Each question is answered once. One that could not be is asked again by the node, under another number.
final class DatasetRequests implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DatasetRequests.class);

    /// Where they are.
    static final String PATH = "apis/" + DatasetAccess.GROUP + "/" + DatasetAccess.VERSION + "/" + DatasetAccess.PLURAL;

    private static final ResourceDefinitionContext ACCESSES = new ResourceDefinitionContext.Builder()
            .withGroup(DatasetAccess.GROUP)
            .withVersion(DatasetAccess.VERSION)
            .withKind(DatasetAccess.KIND)
            .withPlural(DatasetAccess.PLURAL)
            .withNamespaced(true)
            .build();

    /// RFC 4918, section 11.2; of a JSON patch whose test fails.
    private static final int HTTP_UNPROCESSABLE = 422;

    /// How many are answered at once: each waits for API server, directory and Ceph.
    private static final int AT_ONCE = 16;

    private final KubernetesApi api;
    private final String driver;
    private final Opener datasets;
    private final ExecutorService workers = Executors.newFixedThreadPool(
            AT_ONCE, Thread.ofPlatform().daemon().name("dataset-requests-", 0).factory());
    private Optional<SharedIndexInformer<GenericKubernetesResource>> following = Optional.empty();

    /// Decides who gets what, as [DatasetVolumes#open].
    @FunctionalInterface
    interface Opener {
        DatasetVolumes.Opened open(String dataset, String namespace, String name);
    }

    /// @param driver the CSI driver's name, which pods write beside the dataset's
    DatasetRequests(KubernetesApi api, String driver, Opener datasets) {
        this.api = api;
        this.driver = driver;
        this.datasets = datasets;
    }

    /// Begins, and does not wait for the API server.
    DatasetRequests start() {
        workers.execute(this::follow);
        return this;
    }

    private synchronized void follow() {
        if (!workers.isShutdown()) {
            following = Optional.of(api.follow(ACCESSES, this::take));
        }
    }

    @Override
    public void close() {
        workers.shutdownNow();
        synchronized (this) {
            following.ifPresent(SharedIndexInformer::close);
        }
    }

    private static JsonObject json(GenericKubernetesResource access) {
        return JsonParser.parseString(Serialization.asJson(access)).getAsJsonObject();
    }

    private void take(GenericKubernetesResource changed) {
        String request = changed.get("spec", "request");
        if (request == null || request.equals(changed.get("status", "request"))) {
            return;
        }
        JsonObject object = json(changed);
        try {
            workers.execute(() -> answer(object));
        } catch (RejectedExecutionException _) {
            // the process ends; whoever leads next is told of it again
        }
    }

    private void answer(JsonObject object) {
        String namespace = text(object, "metadata", "namespace").orElse("");
        String name = text(object, "metadata", "name").orElse("");
        String request = text(object, "spec", "request").orElse("");
        try {
            JsonObject status = answer(namespace, name, request, object.getAsJsonObject("spec"))
                    .toStatus();
            if (!status.has("volume")) {
                // a pod that is refused now may read what it was given before
                text(object, "status", "volume").ifPresent(volume -> status.addProperty("volume", volume));
            }
            patch(namespace, name, request, status);
        } catch (DriverException notNow) {
            LOG.warn("{} {}/{} is not answered: {}", DatasetAccess.KIND, namespace, name, notNow.getMessage());
        } catch (RuntimeException unforeseen) {
            LOG.error("a {} is not answered", DatasetAccess.KIND, unforeseen);
        }
    }

    /// What to answer a question.
    DatasetAccess.Answer answer(String namespace, String name, String request, JsonObject spec) {
        try {
            DatasetAccess.Asked asked = DatasetAccess.Asked.ofSpec(spec);
            InlinePod.read(api, driver, namespace, asked).check(name, asked);
            DatasetVolumes.Opened opened = datasets.open(asked.dataset(), namespace, name);
            LOG.atInfo()
                    .addKeyValue("dataset", asked.dataset())
                    .addKeyValue("pod", namespace + "/" + asked.pod())
                    .addKeyValue("node", asked.node())
                    .log("a pod reads a dataset that it names");
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

    private static Optional<String> text(JsonObject object, String part, String name) {
        return Optional.ofNullable(object.getAsJsonObject(part))
                .map(found -> found.get(name))
                .filter(JsonElement::isJsonPrimitive)
                .map(JsonElement::getAsString);
    }

    /// Replaces what an earlier answer said, unless the node has asked anew meanwhile.
    private void patch(String namespace, String name, String request, JsonObject status) {
        JsonObject asked = new JsonObject();
        asked.addProperty("op", "test");
        asked.addProperty("path", "/spec/request");
        asked.addProperty("value", request);
        JsonObject answered = new JsonObject();
        answered.addProperty("op", "add");
        answered.addProperty("path", "/status");
        answered.add("value", status);
        String change = "[" + asked + "," + answered + "]";
        boolean _ = api.change(
                "patch status of " + DatasetAccess.KIND + " " + namespace + "/" + name,
                List.of(HttpURLConnection.HTTP_NOT_FOUND, HTTP_UNPROCESSABLE), // gone with its pod, or asked anew
                server -> server.genericKubernetesResources(ACCESSES)
                        .inNamespace(namespace)
                        .withName(name)
                        .subresource("status")
                        .patch(PatchContext.of(PatchType.JSON), change));
    }
}
