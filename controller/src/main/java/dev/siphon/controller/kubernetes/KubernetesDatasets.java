package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.dataset.Datasets;
import dev.siphon.controller.dataset.ReaderIds;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Dataset;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Datasets as objects of the cluster (`datasets.siphon.dev`), which administrators write;
/// those of sealed snapshots [KubernetesSealing].
final class KubernetesDatasets implements Datasets {
    /// Where they are.
    static final String PATH = "apis/siphon.dev/v1alpha1/datasets";

    static final ResourceDefinitionContext KIND = new ResourceDefinitionContext.Builder()
            .withGroup("siphon.dev")
            .withVersion("v1alpha1")
            .withKind(Dataset.KIND)
            .withPlural("datasets")
            .withNamespaced(false)
            .build();
    private static final String READY = "ready";
    private static final String MESSAGE = "message";

    private static final Logger LOG = LoggerFactory.getLogger(KubernetesDatasets.class);

    private final KubernetesApi api;

    /// What the objects said of themselves when they were listed.
    private final Map<String, State> reported = new ConcurrentHashMap<>();

    /// Whom the names of their readers meant, likewise.
    private final Map<String, ReaderIds> seen = new ConcurrentHashMap<>();

    KubernetesDatasets(KubernetesApi api) {
        this.api = api;
    }

    @Override
    public Optional<Dataset> find(String name) {
        try {
            String doing = "get Dataset " + name;
            return api.read(doing, PATH + "/" + name, body -> KubernetesApi.object(doing, body))
                    .map(KubernetesDatasets::usable);
        } catch (DriverException.InvalidRequest wrong) {
            throw new DriverException.InUse(wrong.getMessage());
        }
    }

    @Override
    public Declared all() {
        List<Dataset> all = new ArrayList<>();
        reported.clear();
        seen.clear();
        Map<String, String> broken = new HashMap<>();
        boolean isThere = api.listCustom("list Datasets", PATH, object -> {
            state(object).ifPresent(state -> reported.put(name(object), state));
            ReaderIds readers = ReaderStatus.parse(object);
            if (!readers.equals(ReaderIds.NONE)) {
                seen.put(name(object), readers);
            }
            try {
                all.add(usable(object));
            } catch (DriverException.InvalidRequest wrong) {
                broken.put(name(object), String.valueOf(wrong.getMessage()));
            }
        });
        if (!isThere) {
            throw new DriverException.BackendUnavailable(
                    "the cluster has no custom resource datasets.siphon.dev: the chart makes it");
        }
        return new Declared(all, broken, seen);
    }

    private static Optional<State> state(JsonObject object) {
        return Optional.ofNullable(object.getAsJsonObject("status"))
                .filter(status -> status.has(READY) && status.has(MESSAGE))
                .map(status -> new State(
                        status.get(READY).getAsBoolean(), status.get(MESSAGE).getAsString()));
    }

    @Override
    public ReaderIds readers(String name) {
        String doing = "get Dataset " + name;
        return api.read(doing, PATH + "/" + name, body -> KubernetesApi.object(doing, body))
                .map(ReaderStatus::parse)
                .orElse(ReaderIds.NONE);
    }

    @Override
    public void note(String name, ReaderIds readers) {
        ReaderIds before = seen.getOrDefault(name, ReaderIds.NONE);
        patch(api, name, ReaderStatus.change(name, before, readers, Instant.now()));
        if (!before.changed().containsAll(readers.changed())) {
            LOG.warn("dataset {}: {}", name, ReaderStatus.message(name, readers.changed()));
        }
    }

    @Override
    public void report(String name, State state) {
        if (state.equals(reported.get(name))) {
            return;
        }
        JsonObject status = new JsonObject();
        status.addProperty(READY, state.ready());
        status.addProperty(MESSAGE, state.message());
        patch(api, name, status);
        if (!state.ready()) {
            LOG.warn("dataset {} cannot be used: {}", name, state.message());
        }
    }

    /// Merges that into a status.
    static void patch(KubernetesApi api, String name, JsonObject status) {
        JsonObject change = new JsonObject();
        change.add("status", status);
        // one that was deleted meanwhile needs none
        boolean _ = api.send(
                "patch status of Dataset " + name,
                List.of(HttpURLConnection.HTTP_NOT_FOUND),
                PATH + "/" + name + "/status",
                request -> request.patch("application/merge-patch+json", change.toString()));
    }

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it cannot be, or its image is refused
    private static Dataset usable(JsonObject object) {
        Dataset dataset = parse(object);
        KubernetesReadBacks.refusal(object).ifPresent(why -> {
            throw new DriverException.InvalidRequest("dataset " + dataset.name() + ": " + why);
        });
        return dataset;
    }

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it cannot be
    static Dataset parse(JsonObject object) {
        return Dataset.parse(
                name(object),
                Optional.ofNullable(object.getAsJsonObject("spec")).orElseGet(JsonObject::new));
    }

    private static String name(JsonObject object) {
        return object.getAsJsonObject("metadata").get("name").getAsString();
    }
}
