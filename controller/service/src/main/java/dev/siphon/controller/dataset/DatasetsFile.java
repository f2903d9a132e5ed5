package dev.siphon.controller.dataset;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Dataset;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Datasets in a file, for orchestrators without custom resources. The file is one JSON object that maps names to
/// the `spec` of a `Dataset` object. It is read each time.
public final class DatasetsFile implements DatasetCatalog {
    private static final Logger LOG = LoggerFactory.getLogger(DatasetsFile.class);

    /// Enough for some ten thousand datasets.
    private static final long MOST_BYTES = 8 << 20;

    private final Path file;
    private final Map<String, DatasetStatus> reported = new ConcurrentHashMap<>();

    /// @param file may not exist yet
    public DatasetsFile(Path file) {
        this.file = file;
    }

    @Override
    public Optional<Dataset> find(String name) {
        Optional<JsonElement> spec = Optional.ofNullable(read().get(name));
        try {
            return spec.map(found -> parse(name, found));
        } catch (DriverException.InvalidRequest wrong) {
            throw new DriverException.InUse(file + ": " + wrong.getMessage());
        }
    }

    @Override
    public Declared all() {
        List<Dataset> all = new ArrayList<>();
        Map<String, String> broken = new HashMap<>();
        read().forEach((name, spec) -> {
            try {
                all.add(parse(name, spec));
            } catch (DriverException.InvalidRequest wrong) {
                broken.put(name, String.valueOf(wrong.getMessage()));
            }
        });
        return new Declared(all, broken, Map.of());
    }

    /// A file cannot record them, so a name means whoever has it now.
    @Override
    public ReaderIds readers(String name) {
        return ReaderIds.NONE;
    }

    @Override
    public void note(String name, ReaderIds readers) {
        // as above
    }

    /// Logs a changed status that is not ready.
    @Override
    public void report(String name, DatasetStatus state) {
        if (!state.equals(reported.put(name, state)) && !state.ready()) {
            LOG.warn("dataset {} in {} cannot be used: {}", name, file, state.message());
        }
    }

    private static Dataset parse(String name, JsonElement spec) {
        if (!spec.isJsonObject()) {
            throw new DriverException.InvalidRequest("dataset " + name + " must be an object");
        }
        return Dataset.parse(name, spec.getAsJsonObject());
    }

    /// Returns the entries by the names that lookups use.
    private Map<String, JsonElement> read() {
        try {
            if (Files.size(file) > MOST_BYTES) {
                throw new DriverException.BackendUnavailable(
                        "the datasets in " + file + " take more than " + (MOST_BYTES >> 20) + " MiB");
            }
            JsonObject all = JsonParser.parseString(Files.readString(file)).getAsJsonObject();
            Map<String, JsonElement> byName = new TreeMap<>();
            all.asMap().forEach((name, spec) -> byName.put(Dataset.objectName(name), spec));
            return byName;
        } catch (IOException | JsonParseException | IllegalStateException e) {
            throw new DriverException.BackendUnavailable("the datasets in " + file + " cannot be read: " + e);
        }
    }
}
