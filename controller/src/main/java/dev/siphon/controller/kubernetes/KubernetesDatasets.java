package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.controller.dataset.Dataset;
import dev.siphon.controller.dataset.Datasets;
import dev.siphon.csi.DriverException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Datasets as objects of the cluster (`datasets.siphon.dev`), which only administrators write.
final class KubernetesDatasets implements Datasets {
    /// Where they are.
    static final String PATH = "apis/siphon.dev/v1alpha1/datasets";

    private static final Logger LOG = LoggerFactory.getLogger(KubernetesDatasets.class);

    /// How many to ask for at once: some hundred KB.
    private static final int PAGE = 250;

    /// What an object may be, in bytes (etcd's limit for a request), and a page of them.
    private static final int MOST_BYTES = 16 << 20;

    private final KubernetesApi api;

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
        Set<String> broken = new HashSet<>();
        String next = "";
        do {
            String from = next.isEmpty() ? "" : "&continue=" + URLEncoder.encode(next, StandardCharsets.UTF_8);
            JsonObject page = read("list Datasets", PATH + "?limit=" + PAGE + from)
                    .orElseThrow(() -> new DriverException.BackendUnavailable(
                            "the cluster has no custom resource datasets.siphon.dev: the chart makes it"));
            page.getAsJsonArray("items").forEach(item -> {
                try {
                    all.add(parse(item.getAsJsonObject()));
                } catch (DriverException.InvalidRequest wrong) {
                    LOG.warn("{}", wrong.getMessage());
                    broken.add(name(item.getAsJsonObject()));
                }
            });
            next = Optional.ofNullable(page.getAsJsonObject("metadata").get("continue"))
                    .map(token -> token.getAsString())
                    .orElse("");
        } while (!next.isEmpty());
        return new Declared(all, broken);
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
