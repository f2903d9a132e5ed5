package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.controller.dataset.Dataset;
import dev.siphon.controller.dataset.Datasets;
import dev.siphon.csi.DriverException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Datasets as objects of the cluster (`datasets.siphon.dev`), which only administrators write.
final class KubernetesDatasets implements Datasets {
    /// Where they are.
    static final String PATH = "apis/siphon.dev/v1alpha1/datasets";

    private static final ResourceDefinitionContext KIND = new ResourceDefinitionContext.Builder()
            .withGroup("siphon.dev")
            .withVersion("v1alpha1")
            .withKind("Dataset")
            .withPlural("datasets")
            .withNamespaced(false)
            .build();
    private static final String READY = "ready";
    private static final String MESSAGE = "message";

    private static final Logger LOG = LoggerFactory.getLogger(KubernetesDatasets.class);

    /// How many to ask for at once: some hundred KB.
    private static final int PAGE = 250;

    /// What an object may be, in bytes (etcd's limit for a request), and a page of them.
    private static final int MOST_BYTES = 16 << 20;

    private final KubernetesApi api;

    /// What the objects said of themselves when they were listed.
    private final Map<String, State> reported = new ConcurrentHashMap<>();

    KubernetesDatasets(KubernetesApi api) {
        this.api = api;
    }

    @Override
    public Optional<Dataset> find(String name) {
        try {
            return read("get Dataset " + name, PATH + "/" + name).map(KubernetesDatasets::parse);
        } catch (DriverException.InvalidRequest wrong) {
            throw new DriverException.InUse(wrong.getMessage());
        }
    }

    @Override
    public Declared all() {
        List<Dataset> all = new ArrayList<>();
        reported.clear();
        Map<String, String> broken = new HashMap<>();
        String next = "";
        do {
            String from = next.isEmpty() ? "" : "&continue=" + URLEncoder.encode(next, StandardCharsets.UTF_8);
            JsonObject page = read("list Datasets", PATH + "?limit=" + PAGE + from)
                    .orElseThrow(() -> new DriverException.BackendUnavailable(
                            "the cluster has no custom resource datasets.siphon.dev: the chart makes it"));
            page.getAsJsonArray("items").forEach(item -> {
                JsonObject object = item.getAsJsonObject();
                state(object).ifPresent(state -> reported.put(name(object), state));
                try {
                    all.add(parse(object));
                } catch (DriverException.InvalidRequest wrong) {
                    broken.put(name(object), String.valueOf(wrong.getMessage()));
                }
            });
            next = Optional.ofNullable(page.getAsJsonObject("metadata").get("continue"))
                    .map(token -> token.getAsString())
                    .orElse("");
        } while (!next.isEmpty());
        return new Declared(all, broken);
    }

    private static Optional<State> state(JsonObject object) {
        return Optional.ofNullable(object.getAsJsonObject("status"))
                .filter(status -> status.has(READY) && status.has(MESSAGE))
                .map(status -> new State(
                        status.get(READY).getAsBoolean(), status.get(MESSAGE).getAsString()));
    }

    @Override
    public void report(String name, State state) {
        if (state.equals(reported.get(name))) {
            return;
        }
        JsonObject status = new JsonObject();
        status.addProperty(READY, state.ready());
        status.addProperty(MESSAGE, state.message());
        JsonObject change = new JsonObject();
        change.add("status", status);
        // one that was deleted meanwhile needs none
        boolean _ = api.change(
                "patch status of Dataset " + name,
                List.of(HttpURLConnection.HTTP_NOT_FOUND),
                server -> server.genericKubernetesResources(KIND)
                        .withName(name)
                        .subresource("status")
                        .patch(PatchContext.of(PatchType.JSON_MERGE), change.toString()));
        if (!state.ready()) {
            LOG.warn("dataset {} cannot be used: {}", name, state.message());
        }
    }

    private static Dataset parse(JsonObject object) {
        return Dataset.parse(
                name(object),
                Optional.ofNullable(object.getAsJsonObject("spec")).orElseGet(JsonObject::new));
    }

    private static String name(JsonObject object) {
        return object.getAsJsonObject("metadata").get("name").getAsString();
    }

    private Optional<JsonObject> read(String doing, String path) {
        return api.read(doing, path, body -> json(doing, body));
    }

    private static JsonObject json(String doing, InputStream body) throws IOException {
        byte[] bytes = body.readNBytes(MOST_BYTES + 1);
        if (bytes.length > MOST_BYTES) {
            throw new DriverException.BackendFault(
                    doing + " was answered with more than " + (MOST_BYTES >> 20) + " MiB");
        }
        try (InputStreamReader text =
                new InputStreamReader(new java.io.ByteArrayInputStream(bytes), StandardCharsets.UTF_8)) {
            return JsonParser.parseReader(text).getAsJsonObject();
        } catch (JsonParseException | IllegalStateException e) {
            throw new DriverException.BackendFault(doing + " was answered with something else than objects", e);
        }
    }
}
