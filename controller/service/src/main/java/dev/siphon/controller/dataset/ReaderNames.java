package dev.siphon.controller.dataset;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Dataset;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Checks that a reader's name still means the account that it meant when first seen at a dataset. A name that now
/// means another account grants nothing until an administrator confirms it.
public final class ReaderNames {
    private static final Logger LOG = LoggerFactory.getLogger(ReaderNames.class);

    private final DatasetCatalog datasets;
    private final AccountDirectory directory;

    /// The readers whose names had changed at the last pass, by dataset name.
    private volatile Map<String, Set<String>> changed = Map.of();

    public ReaderNames(DatasetCatalog datasets, AccountDirectory directory) {
        this.datasets = datasets;
        this.directory = directory;
    }

    /// Returns a dataset without the readers that match `account` but whose names changed meaning. Decides without
    /// caches: 1 round trip, and the directory.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if a backend does not reply
    Dataset trusted(Dataset dataset, Account account) {
        ReaderIds known = datasets.readers(dataset.name());
        return without(
                dataset,
                dataset.readers().stream()
                        .filter(reader -> reader.equals(account.name())
                                || account.groups().contains(groupOf(reader).orElse("")))
                        .filter(reader -> known.group(reader)
                                .flatMap(group -> now(reader).filter(now -> !now.equals(group)))
                                .isPresent())
                        .collect(Collectors.toSet()));
    }

    private static Optional<String> groupOf(String reader) {
        return reader.startsWith(AccountDirectory.GROUP)
                ? Optional.of(reader.substring(AccountDirectory.GROUP.length()))
                : Optional.empty();
    }

    private Optional<String> now(String reader) {
        return directory.account(reader).map(SubvolumeGroup::nameOf);
    }

    private static Dataset without(Dataset dataset, Set<String> readers) {
        Set<String> left = new HashSet<>(dataset.readers());
        left.removeAll(readers);
        return dataset.readBy(left);
    }

    /// Returns a dataset without the readers whose names had changed at the last pass. Sends no request.
    Dataset trusted(Dataset dataset) {
        return without(dataset, changed.getOrDefault(dataset.name(), Set.of()));
    }

    /// Returns the readers whose names had changed at the last pass, each with its dataset.
    Set<String> changed() {
        return changed.entrySet().stream()
                .flatMap(each -> each.getValue().stream().map(reader -> each.getKey() + " " + reader))
                .collect(Collectors.toSet());
    }

    /// Checks all names once. Records names that are seen for the first time, and forgets names that are no longer
    /// readers. Names for which the directory does not reply keep their state.
    void refresh(DatasetCatalog.Declared declared) {
        ReaderLookup names = new ReaderLookup();
        Map<String, Set<String>> found = new HashMap<>();
        for (Dataset dataset : declared.datasets()) {
            ReaderIds before = declared.readers(dataset.name());
            ReaderIds now = dataset.isForEverybody() ? ReaderIds.NONE : names.of(dataset, before);
            found.put(dataset.name(), now.changed());
            if (!now.equals(before)) {
                note(dataset.name(), now);
            }
        }
        changed = Map.copyOf(found);
    }

    private void note(String dataset, ReaderIds readers) {
        try {
            datasets.note(dataset, readers);
        } catch (DriverException notNow) {
            LOG.warn(
                    "the accounts behind the readers of dataset {} are written down later: {}",
                    dataset,
                    notNow.getMessage());
        }
    }

    /// Caches the directory's replies: each name is looked up once.
    private final class ReaderLookup {
        private final Map<String, Optional<String>> known = new HashMap<>();
        private final Set<String> unknown = new HashSet<>();
        private boolean silent;

        ReaderIds of(Dataset dataset, ReaderIds before) {
            Map<String, String> groups = new HashMap<>();
            Set<String> others = new HashSet<>();
            Set<String> othersBefore = changed.getOrDefault(dataset.name(), before.changed());
            for (String reader : dataset.readers()) {
                ask(reader);
                Optional<String> meant = before.group(reader);
                Optional<String> now = known.getOrDefault(reader, Optional.empty());
                meant.or(() -> now).ifPresent(group -> groups.put(reader, group));
                boolean isOther = known.containsKey(reader)
                        ? meant.isPresent() && now.isPresent() && !now.equals(meant)
                        : othersBefore.contains(reader);
                if (isOther) {
                    others.add(reader);
                }
            }
            return new ReaderIds(groups, others);
        }

        private void ask(String reader) {
            if (silent || known.containsKey(reader) || unknown.contains(reader)) {
                return;
            }
            try {
                known.put(reader, now(reader));
            } catch (DriverException notNow) {
                silent = notNow instanceof DriverException.BackendUnavailable;
                unknown.add(reader);
            }
        }
    }
}
