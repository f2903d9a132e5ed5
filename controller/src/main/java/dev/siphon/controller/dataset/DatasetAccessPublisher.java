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
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Keeps what nodes know of datasets in step with what administrators declare, with the namespaces there are, and
/// with the groups that accounts are in. What cannot be known now stays as it was published.
public final class DatasetAccessPublisher implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DatasetAccessPublisher.class);

    private final Clusters clusters;
    private final DatasetCatalog datasets;
    private final DatasetReaders readers;
    private final NamespaceAccounts accounts;
    private final NamespaceGrants published;
    private final Optional<DatasetVolumes.Keys> keys;

    /// The accounts of which was told that nobody knows what they may read.
    private final Set<String> told = new HashSet<>();

    /// What is known of the datasets that are declared, by their names; empty before the first look.
    private volatile Optional<Map<String, NamespaceAccess.ReadableDataset>> details = Optional.empty();

    private final ScheduledExecutorService worker = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("dataset-grants").factory());

    /// @param published where nodes read it
    /// @param keys empty if the driver mints none
    public DatasetAccessPublisher(
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

    /// Begins to look.
    ///
    /// @param every how long after one look the next one begins
    public DatasetAccessPublisher start(Duration every, BackgroundTasks tasks) {
        var _ = worker.scheduleWithFixedDelay(
                tasks.guarded("dataset-grants", this::reconcileAndLog), 0, every.toMillis(), TimeUnit.MILLISECONDS);
        return this;
    }

    @Override
    public void close() {
        worker.shutdownNow();
    }

    /// What is known of the datasets that are declared, by their names; empty before the first look.
    public Optional<Map<String, NamespaceAccess.ReadableDataset>> details() {
        return details;
    }

    /// What a dataset may be called that is where a volume is, by what is published.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if that cannot be known now
    public List<String> names(VolumeId.DatasetVolume volume) {
        return published.published().datasets().entrySet().stream()
                .filter(each -> each.getValue().volume().equals(volume.forNobody()))
                .map(Map.Entry::getKey)
                .filter(name -> !name.contains("@")) // one that is no more
                .toList();
    }

    private void reconcileAndLog() {
        try {
            reconcile();
        } catch (DriverException.BackendUnavailable | DriverException.OperationPending notNow) {
            LOG.info("who may read which dataset stays as it was published: {}", notNow.getMessage());
        } catch (DriverException refused) {
            LOG.warn("who may read which dataset stays as it was published: {}", refused.getMessage());
        }
    }

    /// Looks once, and publishes what has changed. Ceph is asked after that: a cluster that hangs keeps nobody's
    /// reader.
    ///
    /// @throws DriverException if anything of it cannot be known now
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
        // a slip of the pen takes nothing from anybody
        declared.wrong().keySet().forEach(name -> before.dataset(name).ifPresent(shared -> now.put(name, shared)));
        Map<String, Shared> former = former(before, now);
        now.putAll(former);
        Map<String, String> leftOut = published.shareOnly(before, now);
        Map<String, DriverException> silent = new HashMap<>();
        removeKeys(former, now, silent);
        report(declared, leftOut, silent);
    }

    /// What is no dataset any more but may have a key, under names that no dataset can have: one that is declared
    /// anew may have the old one. Nobody may read it. It is published so that a controller that is killed is
    /// followed by one that finds it.
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

    /// Takes away the identities of what is no dataset any more and has no volumes; and then forgets it.
    ///
    /// @param silent clusters that gave no answer: they are asked nothing more
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
            LOG.info("dataset {} is no more, and no volume shows it: its key is removed", name);
        }
        return unused;
    }

    private static void remember(
            DriverException failure, VolumeId.DatasetVolume volume, Map<String, DriverException> silent) {
        if (failure instanceof DriverException.BackendUnavailable) {
            silent.put(volume.cluster(), failure);
        }
    }

    /// What one report cannot say keeps no other from being written.
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
                LOG.info("what became of the datasets is written down later: {}", notNow.getMessage());
                return;
            } catch (DriverException refused) {
                LOG.warn("what became of dataset {} is not written down: {}", each.getKey(), refused.getMessage());
            }
        }
    }

    private static boolean isReady(String name, Map<String, DatasetCatalog.DatasetStatus> states) {
        return Optional.ofNullable(states.get(name))
                .filter(DatasetCatalog.DatasetStatus::ready)
                .isPresent();
    }

    /// Whether volumes can show a dataset. What was well once is not looked at again.
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

    /// The namespaces that may read each dataset that is not everybody's. Where the directory does not say
    /// whether one may, it is as it was published: one account's entry, or a directory that is silent, holds up
    /// no other change.
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

    /// Each once.
    private void logUnknown(Map<String, DriverException> unknown) {
        unknown.forEach((account, why) -> {
            if (!told.contains(account)) {
                LOG.warn("which datasets account {} may read stays as it was published: {}", account, why.getMessage());
            }
        });
        told.clear();
        told.addAll(unknown.keySet());
    }

    /// The namespaces of Kubernetes; without it those that volumes were ever made for.
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
