package dev.siphon.controller.kubernetes;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import dev.siphon.controller.dataset.ReaderIds;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// What the status of a Dataset says of its readers' names: `readers`, and a condition where one means somebody else
/// than it did. Versions that do not know of it leave it as it is.
final class ReaderStatus {
    private static final int MOST_TOLD = 10;
    private static final String STATUS = "status";
    static final String READERS = "readers";
    static final String CONDITIONS = "conditions";
    static final String CONDITION = "ReaderChanged";
    private static final String CHANGED = "changedReaders";

    private ReaderStatus() {}

    /// Reads it from a Dataset; what cannot be is as if it were not there.
    static ReaderIds parse(JsonObject dataset) {
        return new ReaderIds(
                JsonParts.map(dataset, STATUS, READERS),
                JsonParts.words(dataset, STATUS, CHANGED).collect(Collectors.toSet()));
    }

    /// What to merge into the status: what has changed alone, so that nobody else's change is undone.
    static JsonObject change(String dataset, ReaderIds before, ReaderIds now, Instant time) {
        JsonObject readers = new JsonObject();
        Set<String> all = new TreeSet<>(before.groups().keySet());
        all.addAll(now.groups().keySet());
        for (String reader : all) {
            Optional<String> group = Optional.ofNullable(now.groups().get(reader));
            if (!group.equals(Optional.ofNullable(before.groups().get(reader)))) {
                group.ifPresentOrElse(
                        known -> readers.addProperty(reader, known), () -> readers.add(reader, JsonNull.INSTANCE));
            }
        }
        JsonObject status = new JsonObject();
        if (!readers.isEmpty()) {
            status.add(READERS, readers);
        }
        if (!before.changed().equals(now.changed())) {
            JsonArray changed = new JsonArray();
            new TreeSet<>(now.changed()).forEach(changed::add);
            status.add(CHANGED, changed);
            JsonArray conditions = new JsonArray();
            conditions.add(condition(dataset, now.changed(), time));
            status.add(CONDITIONS, conditions);
        }
        return status;
    }

    private static JsonObject condition(String dataset, Set<String> changed, Instant time) {
        JsonObject condition = new JsonObject();
        condition.addProperty("type", CONDITION);
        condition.addProperty("status", changed.isEmpty() ? "False" : "True");
        condition.addProperty("reason", changed.isEmpty() ? "Confirmed" : "NameOfAnother");
        condition.addProperty("message", changed.isEmpty() ? "" : message(dataset, changed));
        condition.addProperty(
                "lastTransitionTime", time.truncatedTo(ChronoUnit.SECONDS).toString());
        return condition;
    }

    /// What an administrator should know, and may do.
    static String message(String dataset, Set<String> changed) {
        List<String> some = changed.stream().sorted().limit(MOST_TOLD).toList();
        String more = changed.size() > MOST_TOLD ? " and " + (changed.size() - MOST_TOLD) + " more" : "";
        return "these readers are not whom their names meant when they were first seen, and read nothing: "
                + String.join(", ", some) + more + "; so that whoever has these names now may read it: "
                + confirmation(dataset, some);
    }

    private static String confirmation(String dataset, List<String> readers) {
        String nulls = readers.stream()
                .map(reader -> new JsonPrimitive(reader).toString().replace("'", "\\u0027") + ":null")
                .collect(Collectors.joining(","));
        return "kubectl patch dataset " + dataset + " --subresource=status --type=merge -p '{\"status\":{\"readers\":{"
                + nulls + "}}}'";
    }
}
