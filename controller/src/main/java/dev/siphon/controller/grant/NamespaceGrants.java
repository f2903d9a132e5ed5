package dev.siphon.controller.grant;

import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.Group;
import dev.siphon.controller.volume.Names;
import dev.siphon.controller.volume.NamespaceAccess;
import dev.siphon.controller.volume.Subvolumes;
import dev.siphon.controller.volume.Volumes;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.Grants.Grant;
import dev.siphon.csi.Grants.Place;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.KeyedOperations;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Grants a namespace the use of an account's volumes when one is made for it there, which the class's rule for
/// owners has allowed then. The grant is kept with the account's group ([#NOTE]), and published for the nodes
/// from there.
public final class NamespaceGrants implements NamespaceAccess, AutoCloseable {
    /// The note on a group's directory that holds its grant, as [Grant#toJson] writes it. Keys of volumes cannot
    /// change it, since they may only read the group.
    public static final String NOTE = "grant";

    private static final Logger LOG = LoggerFactory.getLogger(NamespaceGrants.class);
    private static final Duration AGAIN = Duration.ofSeconds(5);

    /// How often to see whether what was published is still there.
    private static final Duration LOOK = Duration.ofMinutes(1);

    /// How long to wait for others to publish.
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Clusters clusters;
    private final Subvolumes subvolumes;
    private final FileTree files;
    private final GrantsStore store;
    private final KeyedOperations operations = new KeyedOperations();
    private final Set<String> loaded = new HashSet<>();
    private final ScheduledExecutorService loader = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("grants-load").factory());

    /// Held while something is published: a store may take seconds for that, in which others need to see what is
    /// known.
    private final ReentrantLock publishing = new ReentrantLock();

    /// What is published; empty until it is known what was published last.
    private volatile Optional<Grants> known = Optional.empty();

    /// Those of them that were written or read since the start.
    private final Set<Place> written = ConcurrentHashMap.newKeySet();

    public NamespaceGrants(CephPorts ceph, GrantsStore store) {
        this.clusters = ceph.clusters();
        this.subvolumes = ceph.subvolumes();
        this.files = ceph.files();
        this.store = store;
    }

    /// Begins to read the grants that the groups have.
    public NamespaceGrants start(BackgroundTasks tasks) {
        var _ = loader.scheduleWithFixedDelay(
                tasks.guarded("grants-load", this::load), 0, AGAIN.toMillis(), TimeUnit.MILLISECONDS);
        var _ = loader.scheduleWithFixedDelay(
                tasks.guarded("grants-keep", this::keep), LOOK.toMillis(), LOOK.toMillis(), TimeUnit.MILLISECONDS);
        return this;
    }

    @Override
    public void close() {
        loader.shutdownNow();
    }

    /// Grants a namespace the use of a group that exists. Costs nothing where it was granted before; else 2 round
    /// trips to the MDS. Repeating it is safe.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if another grant for this group is being written
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if it cannot be written or published now
    /// @throws DriverException whatever else [GrantsStore#publish] throws
    @Override
    public void allow(Group group, String account, String namespace) {
        Place place = place(group);
        if (has(place, account, namespace)) {
            return;
        }
        operations.run(place.toString(), () -> {
            Grant before = read(group).orElse(new Grant(account, new TreeSet<>()));
            Grant after = before.with(account, namespace);
            files.setNote(group.cluster(), group.fileSystem(), group.path(), NOTE, after.toJson());
            publishGroups(Set.of(place), all -> all.put(place, after));
        });
    }

    /// Grants a namespace the use of a dataset. Costs nothing where that is published already. Repeating it is
    /// safe.
    ///
    /// @param name the dataset's
    /// @param volume where it is, for no claim
    /// @param namespace none for a volume that nobody knows to be some namespace's
    /// @throws DriverException as [#allow]
    public void share(String name, VolumeId.Dataset volume, boolean everybody, Optional<String> namespace) {
        Optional<Shared> published = known.flatMap(all -> all.dataset(name));
        boolean there = published
                .filter(shared -> shared.volume().equals(volume) && shared.everybody() == everybody)
                .filter(shared -> everybody || namespace.map(shared::isFor).orElse(true))
                .isPresent();
        if (!there) {
            publishDatasets(all -> {
                NavigableSet<String> namespaces = new TreeSet<>();
                Optional.ofNullable(all.get(name)).ifPresent(shared -> {
                    if (shared.volume().equals(volume)) {
                        namespaces.addAll(shared.namespaces());
                    } else {
                        // its key is still to be removed
                        all.putIfAbsent(
                                formerName(name, shared.volume()), new Shared(shared.volume(), false, new TreeSet<>()));
                    }
                });
                namespace.ifPresent(namespaces::add);
                all.put(name, new Shared(volume, everybody, everybody ? new TreeSet<>() : namespaces));
            });
        }
    }

    /// What a dataset is called here that is no more, and may have a key: as none can be called that is declared.
    ///
    /// @param name it had, or has here
    public static String formerName(String name, VolumeId.Dataset volume) {
        return name.replaceFirst("@.*", "") + "@" + Names.dataset(volume);
    }

    /// Puts these datasets in the place of those that were published when somebody began to find out which they
    /// are. What [#share] has granted meanwhile stays. Costs nothing if they are the same.
    ///
    /// @param before what was published then
    /// @throws DriverException as [#allow]
    public void shareOnly(Grants before, Map<String, Shared> datasets) {
        if (!known.map(Grants::datasets).equals(Optional.of(datasets))) {
            publishDatasets(all -> {
                Map<String, Shared> meanwhile = new TreeMap<>(all);
                all.clear();
                all.putAll(datasets);
                meanwhile.forEach((name, shared) -> {
                    boolean isNew = before.dataset(name)
                            .filter(old -> old.volume().equals(shared.volume()))
                            .isEmpty();
                    if (isNew && !datasets.containsKey(name)) {
                        all.put(name, shared);
                    }
                    all.computeIfPresent(name, (_, now) -> now.with(granted(shared, before.dataset(name))));
                });
            });
        }
    }

    /// The namespaces that `now` has and `before` had not, of the same image.
    private static Shared granted(Shared now, Optional<Shared> before) {
        NavigableSet<String> namespaces = new TreeSet<>(now.namespaces());
        before.filter(old -> old.volume().equals(now.volume()))
                .ifPresent(old -> namespaces.removeAll(old.namespaces()));
        return new Shared(now.volume(), now.everybody(), namespaces);
    }

    /// What is published, or was last by an earlier controller.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if that cannot be known now
    public Grants published() {
        return known.orElseGet(store::last);
    }

    private boolean has(Place place, String account, String namespace) {
        return written.contains(place)
                && known.flatMap(all -> all.of(place))
                        .filter(grant -> grant.account().equals(account)
                                && grant.namespaces().contains(namespace))
                        .isPresent();
    }

    private void publishGroups(Set<Place> now, Consumer<Map<Place, Grant>> change) {
        publish(now, before -> {
            Map<Place, Grant> all = new TreeMap<>(before.groups());
            change.accept(all);
            return new Grants(all, before.datasets());
        });
    }

    private void publishDatasets(Consumer<Map<String, Shared>> change) {
        publish(Set.of(), before -> {
            Map<String, Shared> all = new TreeMap<>(before.datasets());
            change.accept(all);
            return new Grants(before.groups(), all);
        });
    }

    /// Publishes what is known with a change to it, one after another. Begins with what was published last, so
    /// that no restart takes a grant away.
    ///
    /// @param now the places that are written or read with this change
    private void publish(Set<Place> now, UnaryOperator<Grants> change) {
        lock();
        try {
            Grants grants = change.apply(published());
            store.publish(grants);
            known = Optional.of(grants);
            written.addAll(now);
        } finally {
            publishing.unlock();
        }
    }

    private void lock() {
        try {
            if (!publishing.tryLock(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new DriverException.OperationPending("grants of other namespaces are being published; retry");
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("the driver is stopping; retry");
        }
    }

    /// Reads the groups of the clusters that have not been read yet. Throws nothing that is not an [Error],
    /// since what is scheduled is never run again after that.
    void load() {
        for (String cluster : clusters.ids()) {
            try {
                if (!loaded.contains(cluster)) {
                    load(cluster);
                    loaded.add(cluster);
                }
            } catch (DriverException notNow) {
                LOG.info("the grants of cluster {} are not read yet: {}", cluster, notNow.getMessage());
            } catch (RuntimeException unforeseen) {
                LOG.error("the grants of cluster {} are not read yet", cluster, unforeseen);
            }
        }
    }

    private void load(String cluster) {
        Map<Place, Grant> found = new TreeMap<>();
        for (Clusters.FileSystem fileSystem : clusters.fileSystems(cluster)) {
            for (String name : subvolumes.groups(cluster, fileSystem.name())) {
                Group group = new Group(cluster, fileSystem.name(), name);
                if (Volumes.isOurs(group)) {
                    read(group).ifPresent(grant -> found.put(place(group), grant));
                }
            }
        }
        replace(cluster, found);
    }

    /// Publishes again what somebody has removed or changed where nodes read it: they would let no pod in. Throws
    /// nothing that is not an [Error], as [#load].
    void keep() {
        try {
            lock();
            try {
                known.filter(wanted -> !store.last().equals(wanted)).ifPresent(wanted -> {
                    LOG.warn("somebody has changed the grants where they are published; they are published again");
                    store.publish(wanted);
                });
            } finally {
                publishing.unlock();
            }
        } catch (DriverException notNow) {
            LOG.info("whether the grants are still published is not known: {}", notNow.getMessage());
        } catch (RuntimeException unforeseen) {
            LOG.error("whether the grants are still published is not known", unforeseen);
        }
    }

    /// What a group's directory holds; what cannot be read is none, and keeps no other from being published.
    private Optional<Grant> read(Group group) {
        try {
            return files.note(group.cluster(), group.fileSystem(), group.path(), NOTE)
                    .map(Grant::parse);
        } catch (DriverException.BackendFault unreadable) {
            LOG.warn("{}: its note {} grants nothing: {}", group, NOTE, unreadable.getMessage());
            return Optional.empty();
        }
    }

    /// What the groups say goes before what was published; what was written meanwhile before both.
    private void replace(String cluster, Map<Place, Grant> found) {
        publishGroups(found.keySet(), all -> {
            all.keySet().removeIf(place -> place.cluster().equals(cluster) && !written.contains(place));
            found.forEach((place, grant) -> {
                if (!written.contains(place)) {
                    all.put(place, grant);
                }
            });
        });
    }

    private static Place place(Group group) {
        return new Place(group.cluster(), group.fileSystem(), group.name());
    }
}
