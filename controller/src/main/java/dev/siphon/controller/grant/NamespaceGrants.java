package dev.siphon.controller.grant;

import dev.siphon.controller.volume.AccountAccess;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.NamespaceAccounts;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.Subvolumes;
import dev.siphon.controller.volume.Volumes;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.Grants.Grant;
import dev.siphon.csi.Grants.GroupKey;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.KeyedOperations;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Grants a namespace the use of an account's volumes when one is made for it there, which the class's rule
/// for owners has allowed then. The grant is kept with the account's group ([#NOTE]), and published for the
/// nodes from there.
public final class NamespaceGrants implements AccountAccess, AutoCloseable {
    /// The note on a group's directory that holds its grant, as [Grant#toJson] writes it. Keys of volumes
    /// cannot change it, since they may only read the group.
    public static final String NOTE = "grant";

    private static final Logger LOG = LoggerFactory.getLogger(NamespaceGrants.class);
    private static final Duration AGAIN = Duration.ofSeconds(5);

    /// How often to see whether what was published is still there.
    private static final Duration LOOK = Duration.ofMinutes(1);

    private final Clusters clusters;
    private final Subvolumes subvolumes;
    private final FileTree files;
    private final NamespaceAccounts accounts;
    private final DeletedNamespaces vanished;
    private final GrantsPublication publication;
    private final DatasetShares shares;
    private final KeyedOperations operations = new KeyedOperations();
    private final Set<String> loaded = ConcurrentHashMap.newKeySet();
    private final ScheduledExecutorService loader = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("grants-load").factory());

    /// What was written or read since the start, and is published.
    private final Map<GroupKey, GrantNote> notes = new ConcurrentHashMap<>();

    /// @param accounts tells which namespaces there are, where there is a Kubernetes
    public NamespaceGrants(CephPorts ceph, GrantsStore store, NamespaceAccounts accounts, GrantsMetrics metrics) {
        this.clusters = ceph.clusters();
        this.subvolumes = ceph.subvolumes();
        this.files = ceph.files();
        this.accounts = accounts;
        this.vanished = new DeletedNamespaces(accounts);
        this.publication = new GrantsPublication(store, metrics);
        this.shares = new DatasetShares(publication);
    }

    /// Begins to read the grants that the groups have.
    public NamespaceGrants start(BackgroundTasks tasks) {
        var _ = loader.scheduleWithFixedDelay(
                tasks.guarded("grants-load", this::load), 0, AGAIN.toMillis(), TimeUnit.MILLISECONDS);
        var _ = loader.scheduleWithFixedDelay(
                tasks.guarded("grants-keep", this::republish), LOOK.toMillis(), LOOK.toMillis(), TimeUnit.MILLISECONDS);
        return this;
    }

    @Override
    public void close() {
        loader.shutdownNow();
    }

    /// Grants a namespace the use of a group that exists. Costs a question to the API server where there is
    /// one, so that a namespace inherits nothing from a former one of its name; where it was not granted
    /// before, 2 round trips to the MDS more. Repeating it is safe.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the namespace is gone
    /// @throws DriverException.OperationPending (ABORTED) if another grant for this group is being written
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if it cannot be written or published now
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if it does not fit where nodes read it
    /// @throws DriverException whatever else [GrantsStore#publish] throws
    @Override
    public void grant(SubvolumeGroup group, String account, String namespace) {
        GroupKey place = place(group);
        Optional<String> uid = uid(namespace);
        uid.ifPresent(now -> dropFormer(namespace, now));
        if (has(place, account, namespace, uid)) {
            return;
        }
        operations.run(place.toString(), () -> {
            GrantNote after = read(group).orElse(GrantNote.of(account)).with(account, namespace, uid);
            write(group, after);
            Map<String, String> leftOut = publish(place, after);
            // after a restart the note says it, or what is published
            if (!publication.isPartial() || !GrantNote.parse(after.text()).whole()) {
                GrantsPublication.refuse(leftOut, place.toString());
            }
        });
    }

    private Optional<String> uid(String namespace) {
        if (!accounts.knowsNamespaces()) {
            return Optional.empty();
        }
        return Optional.of(accounts.uid(namespace)
                .orElseThrow(() -> new DriverException.NotFound("namespace " + namespace + " is gone")));
    }

    /// Takes from groups what a former namespace of that name could use.
    private void dropFormer(String namespace, String uid) {
        notes.forEach((place, note) -> {
            boolean former = Optional.ofNullable(note.namespaces().get(namespace))
                    .filter(known -> !known.isEmpty() && !known.equals(GrantNote.beginning(uid)))
                    .isPresent();
            if (former) {
                Map<String, String> there = new HashMap<>(note.namespaces());
                there.put(namespace, uid);
                drop(place, there);
            }
        });
    }

    private void drop(GroupKey place, Map<String, String> there) {
        operations.run(place.toString(), () -> {
            SubvolumeGroup group = new SubvolumeGroup(place.cluster(), place.fileSystem(), place.group());
            read(group).ifPresent(before -> {
                GrantNote after = vanished.drop(place, before, there);
                if (!after.equals(before)) {
                    write(group, after);
                    var _ = publish(place, after);
                }
            });
        });
    }

    /// Drops namespaces that are gone from all grants. What cannot be known or written now waits for the
    /// next time, and holds up no other.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if it cannot be known which namespaces there
    ///     are
    void dropVanished() {
        if (notes.isEmpty()) {
            return;
        }
        vanished.there()
                .ifPresent(there -> notes.forEach((place, note) -> {
                    if (DeletedNamespaces.concern(note, there)) {
                        try {
                            drop(place, there);
                        } catch (DriverException notNow) {
                            LOG.warn(
                                    "which namespaces of {} are gone is not known yet: {}", place, notNow.getMessage());
                        }
                    }
                }));
    }

    /// Grants a namespace the use of a dataset. Costs nothing where that is published already. Repeating it
    /// is safe.
    ///
    /// @param name the dataset's
    /// @param volume where it is, for no claim
    /// @param namespace none for a volume that nobody knows to be some namespace's
    /// @throws DriverException as [#allow]
    public void share(String name, VolumeId.DatasetVolume volume, boolean everybody, Optional<String> namespace) {
        shares.share(name, volume, everybody, namespace);
    }

    /// What a dataset is called here that is no more, and may have a key: as none can be called that is
    /// declared.
    ///
    /// @param name it had, or has here
    public static String formerName(String name, VolumeId.DatasetVolume volume) {
        return name.replaceFirst("@.*", "") + "@" + CephNames.dataset(volume);
    }

    /// Puts these datasets in the place of those that were published when somebody began to find out which
    /// they are. What [#share] has granted meanwhile stays. Costs nothing if they are the same.
    ///
    /// What is taken back by that is taken back whether what is new fits or not.
    ///
    /// @param before what was published then
    /// @return why datasets are not granted to all that may read them, by their names
    /// @throws DriverException as [#allow]
    public Map<String, String> shareOnly(Grants before, Map<String, Shared> datasets) {
        return shares.shareOnly(before, datasets);
    }

    /// What is granted, or was last published by an earlier controller.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if that cannot be known now
    public Grants published() {
        return publication.granted();
    }

    /// As [#published], when that has all that the groups have.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) before that, too
    public Grants whole() {
        Grants now = publication.granted();
        if (publication.wasPartial() && !loaded.containsAll(clusters.ids())) {
            throw new DriverException.BackendUnavailable("not all groups have been read yet");
        }
        return now;
    }

    /// What there is to be said of the room for grants where nodes read them.
    public Set<String> warnings() {
        return publication.warnings();
    }

    private boolean has(GroupKey place, String account, String namespace, Optional<String> uid) {
        return Optional.ofNullable(notes.get(place))
                .filter(note -> note.account().equals(account) && note.has(namespace, uid))
                .isPresent();
    }

    private Map<String, String> publish(GroupKey place, GrantNote note) {
        Map<String, String> leftOut = publishGroups(all -> all.put(place, note.grant()));
        if (publication.isPartial() || !leftOut.containsKey(place.toString())) {
            notes.put(place, note);
        }
        return leftOut;
    }

    private Map<String, String> publishGroups(Consumer<Map<GroupKey, Grant>> change) {
        return publication.publish(before -> {
            Map<GroupKey, Grant> all = new TreeMap<>(before.groups());
            change.accept(all);
            return new Grants(all, before.datasets());
        });
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
        Map<GroupKey, GrantNote> found = new TreeMap<>();
        for (Clusters.FileSystem fileSystem : clusters.fileSystems(cluster)) {
            for (String name : subvolumes.groups(cluster, fileSystem.name())) {
                SubvolumeGroup group = new SubvolumeGroup(cluster, fileSystem.name(), name);
                if (Volumes.isOurs(group)) {
                    read(group).ifPresent(note -> found.put(place(group), note));
                }
            }
        }
        replace(cluster, found);
    }

    /// Publishes again what somebody has removed or changed where nodes read it, and drops namespaces that
    /// are gone. Throws nothing that is not an [Error], as [#load].
    void republish() {
        try {
            publication.republish();
            dropVanished();
        } catch (DriverException notNow) {
            LOG.info("whether the grants are still published is not known: {}", notNow.getMessage());
        } catch (RuntimeException unforeseen) {
            LOG.error("whether the grants are still published is not known", unforeseen);
        }
    }

    /// What a group's directory holds, and what was published where that is not all; what cannot be read is
    /// none, and keeps no other from being published.
    private Optional<GrantNote> read(SubvolumeGroup group) {
        try {
            return files.note(group.cluster(), group.fileSystem(), group.path(), NOTE)
                    .map(GrantNote::parse)
                    .map(note -> note.with(published(note, place(group))));
        } catch (DriverException.BackendFault unreadable) {
            LOG.warn("{}: its note {} grants nothing: {}", group, NOTE, unreadable.getMessage());
            return Optional.empty();
        }
    }

    private Optional<Grant> published(GrantNote note, GroupKey place) {
        return note.whole() ? Optional.empty() : publication.granted().of(place);
    }

    private void write(SubvolumeGroup group, GrantNote note) {
        files.setNote(group.cluster(), group.fileSystem(), group.path(), NOTE, note.text());
    }

    /// What the groups say goes before what was published; what was written meanwhile before both.
    private void replace(String cluster, Map<GroupKey, GrantNote> found) {
        Map<String, String> leftOut = publishGroups(all -> {
            all.keySet().removeIf(place -> place.cluster().equals(cluster) && !notes.containsKey(place));
            found.forEach((place, note) -> {
                if (!notes.containsKey(place)) {
                    all.put(place, note.grant());
                }
            });
        });
        found.forEach((place, note) -> {
            if (publication.isPartial() || !leftOut.containsKey(place.toString())) {
                var _ = notes.putIfAbsent(place, note);
            }
        });
    }

    private static GroupKey place(SubvolumeGroup group) {
        return new GroupKey(group.cluster(), group.fileSystem(), group.name());
    }
}
