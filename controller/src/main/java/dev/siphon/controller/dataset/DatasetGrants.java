package dev.siphon.controller.dataset;

import dev.siphon.controller.grant.NamespaceGrants;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.Directory;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.Names;
import dev.siphon.controller.volume.NamespaceAccounts;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.VolumeId;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Keeps what nodes know of datasets in step with what administrators declare, with the namespaces there are, and
/// with the groups that accounts are in. What cannot be known now stays as it was published.
public final class DatasetGrants implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DatasetGrants.class);

    private final Clusters clusters;
    private final Datasets datasets;
    private final DatasetReaders readers;
    private final NamespaceAccounts accounts;
    private final NamespaceGrants published;
    private final Optional<DatasetVolumes.Keys> keys;

    /// Those whose directories have been seen to be as they must be.
    private final Set<VolumeId.Dataset> well = new HashSet<>();

    private final ScheduledExecutorService worker = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("dataset-grants").factory());

    /// @param published where nodes read it
    /// @param keys empty if the driver mints none
    public DatasetGrants(
            Clusters clusters,
            Datasets datasets,
            NamespaceAccounts accounts,
            Directory directory,
            NamespaceGrants published,
            Optional<DatasetVolumes.Keys> keys) {
        this.clusters = clusters;
        this.datasets = datasets;
        this.readers = new DatasetReaders(accounts, directory);
        this.accounts = accounts;
        this.published = published;
        this.keys = keys;
    }

    /// Begins to look.
    ///
    /// @param every how long after one look the next one begins
    public DatasetGrants start(Duration every) {
        var _ = worker.scheduleWithFixedDelay(this::keep, 0, every.toMillis(), TimeUnit.MILLISECONDS);
        return this;
    }

    @Override
    public void close() {
        worker.shutdownNow();
    }

    /// Throws nothing that is not an [Error], since what is scheduled is never run again after that.
    private void keep() {
        try {
            look();
        } catch (DriverException notNow) {
            LOG.info("who may read which dataset stays as it was published: {}", notNow.getMessage());
        } catch (RuntimeException unforeseen) {
            LOG.error("who may read which dataset stays as it was published", unforeseen);
        }
    }

    /// Looks once, and publishes what has changed.
    ///
    /// @throws DriverException if anything of it cannot be known now
    void look() {
        Datasets.Declared declared = datasets.all();
        Grants before = published.published();
        if (declared.datasets().isEmpty() && before.datasets().isEmpty()) {
            return;
        }
        Map<String, Shared> now = new TreeMap<>();
        Map<Dataset, NavigableSet<String>> readable = readable(declared.datasets(), before);
        for (Dataset dataset : declared.datasets()) {
            now.put(
                    dataset.name(),
                    new Shared(
                            dataset.volume(clusters.defaultCluster()),
                            dataset.readers().areEverybody(),
                            readable.getOrDefault(dataset, new TreeSet<>())));
        }
        // a slip of the pen takes nothing from anybody
        declared.wrong().keySet().forEach(name -> before.dataset(name).ifPresent(shared -> now.put(name, shared)));
        removeKeys(before, now);
        published.shareOnly(before, now);
        declared.datasets().forEach(dataset -> datasets.report(dataset.name(), state(dataset)));
        declared.wrong().forEach((name, why) -> datasets.report(name, new Datasets.State(false, why)));
    }

    /// Whether volumes can show a dataset. What was well once is not looked at again.
    private Datasets.State state(Dataset dataset) {
        VolumeId.Dataset volume = dataset.volume(clusters.defaultCluster());
        if (!clusters.ids().contains(volume.cluster())) {
            return new Datasets.State(false, "cluster " + volume.cluster() + " is none of " + clusters.ids());
        }
        try {
            if (keys.isPresent() && !well.contains(volume)) {
                keys.get().identities().check(volume);
                well.add(volume);
            }
            return new Datasets.State(true, "");
        } catch (DriverException notNow) {
            return new Datasets.State(false, String.valueOf(notNow.getMessage()));
        }
    }

    /// The namespaces that may read each dataset that is not everybody's.
    private Map<Dataset, NavigableSet<String>> readable(List<Dataset> declared, Grants before) {
        List<Dataset> some = declared.stream()
                .filter(dataset -> !dataset.readers().areEverybody())
                .toList();
        Map<Dataset, NavigableSet<String>> readable = new HashMap<>();
        if (some.isEmpty()) {
            return readable;
        }
        each(before, (namespace, annotations) -> {
            List<Account> standing = readers.accounts(namespace, annotations);
            some.stream()
                    .filter(dataset -> standing.stream().anyMatch(dataset.readers()::include))
                    .forEach(dataset -> readable.computeIfAbsent(dataset, _ -> new TreeSet<>())
                            .add(namespace));
        });
        return readable;
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

    /// Takes away the identities of what is no dataset any more and has no volumes; before it is forgotten, so
    /// that a controller that is killed in between is followed by one that finds it. Until then it is published,
    /// for nobody.
    private void removeKeys(Grants before, Map<String, Shared> now) {
        if (keys.isEmpty()) {
            return;
        }
        for (Map.Entry<String, Shared> old : before.datasets().entrySet()) {
            VolumeId.Dataset volume = old.getValue().volume();
            boolean gone =
                    now.values().stream().noneMatch(shared -> shared.volume().equals(volume));
            if (gone && clusters.ids().contains(volume.cluster()) && !isRemoved(old.getKey(), volume)) {
                // under a name that no dataset can have: one that is declared anew may have the old one
                String name = old.getKey().replaceFirst("@.*", "") + "@" + Names.dataset(volume);
                now.put(name, new Shared(volume, false, new TreeSet<>()));
            }
        }
    }

    private boolean isRemoved(String name, VolumeId.Dataset volume) {
        try {
            boolean unused = !keys.orElseThrow().store().hasAny(volume);
            if (unused) {
                keys.orElseThrow().identities().remove(volume);
                LOG.info("dataset {} is no more, and no volume shows it: its key is removed", name);
            }
            return unused;
        } catch (DriverException notNow) {
            LOG.warn("the key of dataset {} is removed later: {}", name, notNow.getMessage());
            return false;
        }
    }
}
