package dev.siphon.controller.dataset;

import dev.siphon.controller.grant.NamespaceAccess;
import dev.siphon.controller.grant.NamespaceGrants;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.NamespaceAccounts;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Publishes to nodes which namespaces may read which datasets. It reconciles this with the declared datasets, the
/// existing namespaces and the groups of accounts. What cannot be determined now stays as published.
public final class DatasetGrantsPublisher implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DatasetGrantsPublisher.class);

    private final Clusters clusters;
    private final DatasetCatalog datasets;
    private final DatasetReaders readers;
    private final NamespaceAccounts accounts;
    private final NamespaceGrants published;
    private final Optional<DatasetVolumes.Keys> keys;

    /// Accounts whose failed lookup was already logged.
    private final Set<String> told = new HashSet<>();

    /// The declared datasets by name; empty before the first pass.
    private volatile Optional<Map<String, NamespaceAccess.ReadableDataset>> details = Optional.empty();

    private volatile Optional<BackgroundTasks.Task> running = Optional.empty();
    private volatile boolean closed;

    /// @param published where nodes read it
    /// @param keys empty if the driver mints none
    public DatasetGrantsPublisher(
            Clusters clusters,
            DatasetCatalog datasets,
            NamespaceAccounts accounts,
            DatasetReaders readers,
            NamespaceGrants published,
            Optional<DatasetVolumes.Keys> keys) {
        this.clusters = clusters;
        this.datasets = datasets;
        this.readers = readers;
        this.accounts = accounts;
        this.published = published;
        this.keys = keys;
    }

    /// Starts periodic reconciliation.
    ///
    /// @param every delay from the end of one pass to the start of the next
    public DatasetGrantsPublisher start(Duration every, BackgroundTasks tasks) {
        running = Optional.of(tasks.every("dataset-grants", Duration.ZERO, every, this::reconcileAndLog));
        return this;
    }

    /// Runs a pass in the background now, or after the one that runs. Does nothing once this is closed.
    public void reconcileSoon(BackgroundTasks tasks) {
        var _ = Thread.ofVirtual().name("dataset-grants").start(tasks.guarded("dataset-grants", this::reconcileAndLog));
    }

    @Override
    public void close() {
        closed = true;
        running.ifPresent(BackgroundTasks.Task::close);
    }

    /// Returns the declared datasets by name; empty before the first pass.
    public Optional<Map<String, NamespaceAccess.ReadableDataset>> details() {
        return details;
    }

    /// Returns the published names of the datasets that a volume may show.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the published state cannot be read now
    public List<String> names(VolumeId.DatasetVolume volume) {
        return published.published().datasets().entrySet().stream()
                .filter(each -> each.getValue().volume().equals(volume.withoutClaim()))
                .map(Map.Entry::getKey)
                .filter(name -> !name.contains("@")) // not a former dataset
                .toList();
    }

    private synchronized void reconcileAndLog() {
        try {
            if (!closed) {
                reconcile();
            }
        } catch (DriverException.BackendUnavailable | DriverException.OperationPending notNow) {
            LOG.info("cannot update the published readers of datasets; the old ones stay: {}", notNow.getMessage());
        } catch (DriverException refused) {
            LOG.warn("cannot update the published readers of datasets; the old ones stay: {}", refused.getMessage());
        }
    }

    /// Runs one pass and publishes what changed. It queries Ceph only afterwards, so a hanging cluster delays no
    /// grant.
    ///
    /// @throws DriverException if some input cannot be read now
    void reconcile() {
        DatasetCatalog.Declared declared = datasets.all();
        Grants before = published.published();
        if (declared.datasets().isEmpty() && before.datasets().isEmpty()) {
            details = Optional.of(Map.of());
            return;
        }
        readers.names().refresh(declared);
        Map<String, Shared> now = new TreeMap<>();
        Map<Dataset, NavigableSet<String>> readable = readable(declared.datasets(), before);
        for (Dataset dataset : declared.datasets()) {
            now.put(
                    dataset.name(),
                    new Shared(
                            dataset.volume(clusters.defaultCluster()),
                            dataset.isForEverybody(),
                            readable.getOrDefault(dataset, new TreeSet<>())));
        }
        // an invalid declaration revokes nothing
        declared.wrong().keySet().forEach(name -> before.dataset(name).ifPresent(shared -> now.put(name, shared)));
        Map<String, Shared> former = former(before, now);
        now.putAll(former);
        Map<String, String> leftOut = published.shareOnly(before, now);
        Map<String, DriverException> silent = new HashMap<>();
        removeKeys(former, now, silent);
        report(declared, leftOut, silent);
    }

    /// Returns the datasets that are no longer declared but may still have a key. Their names are ones that no
    /// dataset can have, because a new dataset may reuse the old name. Nobody may read them. They are published so
    /// that another controller finds them after a crash.
    private Map<String, Shared> former(Grants before, Map<String, Shared> now) {
        Set<VolumeId.DatasetVolume> there =
                now.values().stream().map(Shared::volume).collect(Collectors.toSet());
        Map<String, Shared> former = new TreeMap<>();
        before.datasets().forEach((name, old) -> {
            VolumeId.DatasetVolume volume = old.volume();
            if (!there.contains(volume) && keys.isPresent() && clusters.ids().contains(volume.cluster())) {
                former.put(NamespaceGrants.formerName(name, volume), new Shared(volume, false, new TreeSet<>()));
            }
        });
        return former;
    }

    /// Removes the identities of undeclared datasets without volumes, then drops these datasets from the published
    /// state.
    ///
    /// @param silent clusters that gave no reply: they get no further requests
    private void removeKeys(Map<String, Shared> former, Map<String, Shared> now, Map<String, DriverException> silent) {
        Map<String, Shared> left = new TreeMap<>(now);
        former.forEach((name, shared) -> {
            try {
                if (!silent.containsKey(shared.volume().cluster()) && isRemoved(name, shared.volume())) {
                    left.remove(name);
                }
            } catch (DriverException notNow) {
                LOG.warn("the key of dataset {} is removed later: {}", name, notNow.getMessage());
                remember(notNow, shared.volume(), silent);
            }
        });
        if (!left.equals(now)) {
            var _ = published.shareOnly(published.published(), left);
        }
    }

    private boolean isRemoved(String name, VolumeId.DatasetVolume volume) {
        boolean unused = keys.orElseThrow().removeUnused(volume);
        if (unused) {
            LOG.info("dataset {} was deleted and no volume shows it: its key is removed", name);
        }
        return unused;
    }

    private static void remember(
            DriverException failure, VolumeId.DatasetVolume volume, Map<String, DriverException> silent) {
        if (failure instanceof DriverException.BackendUnavailable) {
            silent.put(volume.cluster(), failure);
        }
    }

    /// Writes the status of every dataset. A refused write does not block the others.
    private void report(
            DatasetCatalog.Declared declared, Map<String, String> leftOut, Map<String, DriverException> silent) {
        keys.ifPresent(all -> all.identities()
                .keepOnly(declared.datasets().stream()
                        .collect(Collectors.toMap(
                                dataset -> dataset.volume(clusters.defaultCluster()),
                                dataset -> Dataset.account(dataset.name()),
                                (one, _) -> one))));
        Map<String, DatasetCatalog.DatasetStatus> states = new TreeMap<>();
        declared.datasets().forEach(dataset -> states.put(dataset.name(), state(dataset, silent)));
        leftOut.forEach((name, why) -> states.computeIfPresent(
                name, (_, _) -> new DatasetCatalog.DatasetStatus(false, "not granted to all its readers: " + why)));
        declared.wrong().forEach((name, why) -> states.put(name, new DatasetCatalog.DatasetStatus(false, why)));
        Map<String, NamespaceAccess.ReadableDataset> known = new HashMap<>();
        declared.datasets()
                .forEach(dataset -> known.put(
                        dataset.name(),
                        new NamespaceAccess.ReadableDataset(dataset.bytes(), isReady(dataset.name(), states))));
        details = Optional.of(Map.copyOf(known));
        for (Map.Entry<String, DatasetCatalog.DatasetStatus> each : states.entrySet()) {
            try {
                datasets.report(each.getKey(), each.getValue());
            } catch (DriverException.BackendUnavailable notNow) {
                LOG.info("the status of the datasets is written later: {}", notNow.getMessage());
                return;
            } catch (DriverException refused) {
                LOG.warn("the status of dataset {} is not written: {}", each.getKey(), refused.getMessage());
            }
        }
    }

    private static boolean isReady(String name, Map<String, DatasetCatalog.DatasetStatus> states) {
        return Optional.ofNullable(states.get(name))
                .filter(DatasetCatalog.DatasetStatus::ready)
                .isPresent();
    }

    /// Checks whether volumes can show a dataset. A successful check of its directory is cached.
    private DatasetCatalog.DatasetStatus state(Dataset dataset, Map<String, DriverException> silent) {
        VolumeId.DatasetVolume volume = dataset.volume(clusters.defaultCluster());
        if (!clusters.ids().contains(volume.cluster())) {
            return new DatasetCatalog.DatasetStatus(
                    false, "cluster " + volume.cluster() + " is none of " + clusters.ids());
        }
        if (keys.isEmpty()) {
            return new DatasetCatalog.DatasetStatus(true, "");
        }
        if (silent.containsKey(volume.cluster()) && !keys.get().identities().isKnown(volume)) {
            return new DatasetCatalog.DatasetStatus(
                    false, String.valueOf(silent.get(volume.cluster()).getMessage()));
        }
        try {
            keys.get().identities().check(volume);
            return new DatasetCatalog.DatasetStatus(true, "");
        } catch (DriverException notNow) {
            remember(notNow, volume, silent);
            return new DatasetCatalog.DatasetStatus(false, String.valueOf(notNow.getMessage()));
        }
    }

    /// Returns the namespaces that may read each dataset that not everybody may read. Where the directory gives no
    /// reply, the published grant stays. One account's entry, or a silent directory, blocks no other change.
    private Map<Dataset, NavigableSet<String>> readable(List<Dataset> declared, Grants before) {
        List<Dataset> some =
                declared.stream().filter(dataset -> !dataset.isForEverybody()).toList();
        Map<Dataset, NavigableSet<String>> readable = new HashMap<>();
        if (some.isEmpty()) {
            return readable;
        }
        DatasetsByReader byReader = new DatasetsByReader(some, before, clusters.defaultCluster());
        Map<String, DriverException> unknown = new TreeMap<>();
        each(before, (namespace, annotations) -> {
            DatasetReaders.ResolvedReaders standing = readers.standing(namespace, annotations, silence(unknown));
            unknown.putAll(standing.unknown());
            byReader.of(namespace, standing.known()).stream()
                    .filter(dataset ->
                            readers.reads(standing, dataset).orElseGet(() -> byReader.read(namespace, dataset)))
                    .forEach(dataset -> readable.computeIfAbsent(dataset, _ -> new TreeSet<>())
                            .add(namespace));
        });
        logUnknown(unknown);
        return readable;
    }

    private static Optional<DriverException> silence(Map<String, DriverException> unknown) {
        return unknown.values().stream()
                .filter(DriverException.BackendUnavailable.class::isInstance)
                .findFirst();
    }

    /// Logs each account once.
    private void logUnknown(Map<String, DriverException> unknown) {
        unknown.forEach((account, why) -> {
            if (!told.contains(account)) {
                LOG.warn(
                        "cannot update the published datasets of account {}; the old ones stay: {}",
                        account,
                        why.getMessage());
            }
        });
        told.clear();
        told.addAll(unknown.keySet());
    }

    /// Visits all namespaces of Kubernetes; without Kubernetes, those that volumes were ever created for.
    private void each(Grants before, BiConsumer<String, Map<String, String>> each) {
        if (accounts.knowsNamespaces()) {
            accounts.each(each);
            return;
        }
        Set<String> known = new HashSet<>();
        before.groups().values().forEach(grant -> known.addAll(grant.namespaces()));
        before.datasets().values().forEach(shared -> known.addAll(shared.namespaces()));
        known.forEach(namespace -> each.accept(namespace, Map.of()));
    }
}
