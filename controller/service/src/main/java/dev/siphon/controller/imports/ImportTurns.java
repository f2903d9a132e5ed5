package dev.siphon.controller.imports;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Which imports have a turn: namespaces take turns, so the imports of one namespace delay no other's.
final class ImportTurns {
    /// Imports of one namespace that are fetched or sealed at once; the others wait for their turn.
    static final int AT_ONCE = 3;

    /// Imports of one pass: each costs some four requests to the API server.
    static final int MOST = 50;

    /// The namespace that came last in the pass before.
    private String last = "";

    /// What a pass does.
    ///
    /// @param due the imports that have a turn
    /// @param waiting those for which their namespace has no place yet
    record Turn(List<DatasetImport> due, List<DatasetImport> waiting) {}

    /// @param open the imports with something to do, the oldest first
    Turn next(List<DatasetImport> open) {
        Map<String, List<DatasetImport>> byNamespace = new LinkedHashMap<>();
        List<DatasetImport> waiting = new ArrayList<>();
        for (DatasetImport each : open) {
            List<DatasetImport> placed = byNamespace.computeIfAbsent(each.namespace(), _ -> new ArrayList<>());
            long running =
                    placed.stream().filter(one -> !one.status().phase().isEnd()).count();
            if (each.status().phase().isEnd() || running < AT_ONCE) {
                placed.add(each);
            } else {
                waiting.add(each);
            }
        }
        return new Turn(round(byNamespace), waiting);
    }

    /// Takes one import of each namespace, then the second one of each, beginning after the last namespace before.
    private List<DatasetImport> round(Map<String, List<DatasetImport>> byNamespace) {
        List<String> order =
                new ArrayList<>(byNamespace.keySet().stream().sorted().toList());
        int from =
                (int) order.stream().filter(name -> name.compareTo(last) <= 0).count();
        List<String> turned = new ArrayList<>(order.subList(from, order.size()));
        turned.addAll(order.subList(0, from));
        List<DatasetImport> due = new ArrayList<>();
        Set<String> ended = new HashSet<>();
        for (int nth = 0; ended.size() < turned.size() && due.size() < MOST; nth++) {
            for (String namespace : turned) {
                List<DatasetImport> all = byNamespace.getOrDefault(namespace, List.of());
                if (nth >= all.size()) {
                    ended.add(namespace);
                } else if (due.size() < MOST) {
                    due.add(all.get(nth));
                    last = namespace;
                }
            }
        }
        return due;
    }
}
