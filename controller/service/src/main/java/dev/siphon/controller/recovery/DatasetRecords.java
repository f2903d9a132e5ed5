package dev.siphon.controller.recovery;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.controller.dataset.ReaderIds;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Dataset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/// The Datasets that are declared in one directory, as the note there records them.
record DatasetRecords(List<DatasetRecord> all) {
    private static final String NAME = "name";
    private static final String SPEC = "spec";
    private static final String MEANT = "readers";

    DatasetRecords {
        all = all.stream()
                .sorted(Comparator.comparing(each -> each.dataset().name()))
                .toList();
    }

    /// One Dataset.
    ///
    /// @param meant the name of each reader's group, by the reader's name: the directory may give a name to another
    ///     account
    record DatasetRecord(Dataset dataset, Map<String, String> meant) {
        DatasetRecord {
            meant = Map.copyOf(meant);
        }
    }

    static DatasetRecords of(Dataset dataset, ReaderIds readers) {
        return new DatasetRecords(List.of(new DatasetRecord(dataset, readers.groups())));
    }

    DatasetRecords and(DatasetRecords others) {
        return new DatasetRecords(
                Stream.concat(all.stream(), others.all().stream()).toList());
    }

    String text() {
        JsonArray objects = new JsonArray();
        all.forEach(each -> {
            JsonObject meant = new JsonObject();
            new TreeMap<>(each.meant()).forEach(meant::addProperty);
            JsonObject object = new JsonObject();
            object.addProperty(NAME, each.dataset().name());
            object.add(SPEC, each.dataset().toSpec());
            object.add(MEANT, meant);
            objects.add(object);
        });
        return objects.toString();
    }

    /// Parses what [#text] wrote; empty for anything else.
    static Optional<DatasetRecords> parse(String text) {
        try {
            List<DatasetRecord> all = new ArrayList<>();
            for (JsonElement each : JsonParser.parseString(text).getAsJsonArray()) {
                all.add(parse(each.getAsJsonObject()));
            }
            return Optional.of(new DatasetRecords(all));
        } catch (JsonParseException | IllegalStateException | DriverException.InvalidRequest notOurs) {
            return Optional.empty();
        }
    }

    private static DatasetRecord parse(JsonObject object) {
        Map<String, String> meant = new TreeMap<>();
        part(object, MEANT)
                .getAsJsonObject()
                .entrySet()
                .forEach(reader -> meant.put(reader.getKey(), reader.getValue().getAsString()));
        return new DatasetRecord(
                Dataset.parse(
                        part(object, NAME).getAsString(), part(object, SPEC).getAsJsonObject()),
                meant);
    }

    private static JsonElement part(JsonObject object, String name) {
        return Optional.ofNullable(object.get(name))
                .orElseThrow(() -> new IllegalStateException("a record of a dataset lacks " + name));
    }
}
