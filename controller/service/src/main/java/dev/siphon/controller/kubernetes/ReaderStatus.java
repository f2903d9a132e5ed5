package dev.siphon.controller.kubernetes;

import com.google.gson.JsonPrimitive;
import dev.siphon.controller.dataset.ReaderIds;
import dev.siphon.controller.kubernetes.resource.DatasetObject;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Reads and writes the accounts behind reader names in a Dataset's status: `readers`, and a condition if a name
/// now means another account. Earlier versions leave both as they are.
final class ReaderStatus {
    private static final int MOST_TOLD = 10;
    private static final String CONDITION = "ReaderChanged";

    private ReaderStatus() {}

    /// Returns the accounts in a status.
    static ReaderIds parse(DatasetObject.Status status) {
        Map<String, String> readers = new HashMap<>();
        Optional.ofNullable(status.readers())
                .ifPresent(found -> found.forEach(
                        (reader, group) -> Optional.ofNullable(group).ifPresent(known -> readers.put(reader, known))));
        return new ReaderIds(
                readers, Set.copyOf(Optional.ofNullable(status.changedReaders()).orElseGet(List::of)));
    }

    /// Returns the fields to merge into the status: only changed ones, so that no other change is undone.
    static DatasetObject.Status change(String dataset, ReaderIds before, ReaderIds now, Instant time) {
        Map<String, @Nullable String> readers = new TreeMap<>();
        Set<String> all = new TreeSet<>(before.groups().keySet());
        all.addAll(now.groups().keySet());
        for (String reader : all) {
            String group = now.groups().get(reader);
            if (!Objects.equals(group, before.groups().get(reader))) {
                readers.put(reader, group);
            }
        }
        boolean isChanged = !before.changed().equals(now.changed());
        return DatasetObject.Status.of(
                readers.isEmpty() ? null : readers,
                isChanged ? now.changed().stream().sorted().toList() : null,
                isChanged ? List.of(condition(dataset, now.changed(), time)) : null);
    }

    private static DatasetObject.Condition condition(String dataset, Set<String> changed, Instant time) {
        return new DatasetObject.Condition(
                CONDITION,
                changed.isEmpty() ? DatasetObject.ConditionStatus.FALSE : DatasetObject.ConditionStatus.TRUE,
                changed.isEmpty() ? "Confirmed" : "NameOfAnother",
                changed.isEmpty() ? "" : message(dataset, changed),
                time.truncatedTo(ChronoUnit.SECONDS).toString());
    }

    /// Returns what an administrator should know and may do.
    static String message(String dataset, Set<String> changed) {
        List<String> some = changed.stream().sorted().limit(MOST_TOLD).toList();
        String more = changed.size() > MOST_TOLD ? " and " + (changed.size() - MOST_TOLD) + " more" : "";
        return "the names of these readers meant others when they were first seen, so they read nothing: "
                + String.join(", ", some) + more + "; to let the present holders of these names read it: "
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
