package dev.siphon.controller.dataset;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.csi.Grants;
import dev.siphon.csi.dataset.Dataset;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Indexes datasets by reader name, and by the namespaces that could read them before. This avoids comparing
/// thousands of namespaces with thousands of datasets each.
final class DatasetsByReader {
    private final Map<String, Set<Dataset>> byReader = new HashMap<>();
    private final Map<String, Set<Dataset>> before = new HashMap<>();

    /// @param datasets those that not everybody may read
    /// @param published the previous grants
    /// @param cluster of the datasets that name none
    DatasetsByReader(List<Dataset> datasets, Grants published, String cluster) {
        for (Dataset dataset : datasets) {
            dataset.readers().forEach(reader -> add(byReader, reader, dataset));
            published
                    .dataset(dataset.name())
                    .filter(shared -> shared.volume().equals(dataset.volume(cluster)))
                    .ifPresent(shared -> shared.namespaces().forEach(namespace -> add(before, namespace, dataset)));
        }
    }

    private static void add(Map<String, Set<Dataset>> map, String key, Dataset dataset) {
        map.computeIfAbsent(key, _ -> new HashSet<>()).add(dataset);
    }

    /// Returns all datasets that the namespace may read, and some that it may not.
    Set<Dataset> of(String namespace, List<Account> accounts) {
        Set<Dataset> some = new HashSet<>(before.getOrDefault(namespace, Set.of()));
        for (Account account : accounts) {
            some.addAll(byReader.getOrDefault(account.name(), Set.of()));
            account.groups()
                    .forEach(group -> some.addAll(byReader.getOrDefault(AccountDirectory.GROUP + group, Set.of())));
        }
        return some;
    }

    /// Whether the namespace could read the dataset before.
    boolean read(String namespace, Dataset dataset) {
        return before.getOrDefault(namespace, Set.of()).contains(dataset);
    }
}
