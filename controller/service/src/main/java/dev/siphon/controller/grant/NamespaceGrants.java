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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Grants a namespace the use of an account's volumes when a volume is created for it there; the class's owner
/// rule has then allowed it. The grant is stored with the account's group ([#NOTE]) and published from there for
/// nodes.
public final class NamespaceGrants implements AccountAccess, AutoCloseable {
    /// The note on a group's directory that holds its grant: a [Grant#toJson] with uids. Volume keys cannot
    /// change it, because they only read the group.
    public static final String NOTE = "grant";

    private static final Logger LOG = LoggerFactory.getLogger(NamespaceGrants.class);
    private static final Duration AGAIN = Duration.ofSeconds(5);

    /// How often to check that the publication is still there.
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
    private volatile List<BackgroundTasks.Task> running = List.of();

    /// The notes written or read since the start, and published.
    private final Map<GroupKey, GrantNote> notes = new ConcurrentHashMap<>();

    /// @param accounts knows the existing namespaces if there is a Kubernetes
    public NamespaceGrants(CephPorts ceph, GrantsStore store, NamespaceAccounts accounts, GrantsMetrics metrics) {
        this.clusters = ceph.clusters();
        this.subvolumes = ceph.subvolumes();
        this.files = ceph.files();
        this.accounts = accounts;
        this.vanished = new DeletedNamespaces(accounts);
        this.publication = new GrantsPublication(store, metrics);
        this.shares = new DatasetShares(publication);
    }

    /// Starts reading the grants of all groups.
    public NamespaceGrants start(BackgroundTasks tasks) {
        running = List.of(
                tasks.every("grants-load", Duration.ZERO, AGAIN, this::load),
                tasks.every("grants-keep", LOOK, LOOK, this::republish));
        return this;
    }

    @Override
    public void close() {
        running.forEach(BackgroundTasks.Task::close);
    }

    /// Grants a namespace the use of an existing group. Costs one API server request in Kubernetes, so that a
    /// recreated namespace inherits nothing. A new grant costs 2 more round trips to the MDS. Idempotent.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the namespace is gone
    /// @throws DriverException.OperationPending (ABORTED) if another grant for this group is being written
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the grant cannot be written or published now
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if it does not fit into the space that nodes
    ///     read
    /// @throws DriverException whatever else [GrantsStore#publish] throws
    @Override
    public void grant(SubvolumeGroup group, String account, String namespace) {
        GroupKey place = place(group);
        Optional<String> known = uid(namespace);
        known.ifPresent(now -> dropFormer(namespace, now));
        String uid = known.map(GrantNote::beginning).orElse("");
        if (has(place, account, namespace, uid)) {
            return;
        }
        operations.run(place.toString(), () -> {
            GrantNote after = read(group).orElse(GrantNote.of(account)).with(account, namespace, uid);
            write(group, after);
            Map<String, String> leftOut = publish(place, after);
            // after a restart, the grant survives only in the note or in the publication
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

    /// Revokes the grants of a deleted namespace of that name.
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

    /// Drops deleted namespaces from all grants. Failures are retried in the next run and do not block other
    /// grants.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the namespaces cannot be listed
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
                                    "it is not known yet which namespaces of {} were deleted: {}",
                                    place,
                                    notNow.getMessage());
                        }
                    }
                }));
    }

    /// Grants a namespace the use of a dataset. Costs nothing if that is already published. Idempotent.
    ///
    /// @param name the dataset's name
    /// @param volume its location, for no claim
    /// @param namespace empty for a volume of an unknown namespace
    /// @throws DriverException as [#grant]
    public void share(String name, VolumeId.DatasetVolume volume, boolean everybody, Optional<String> namespace) {
        shares.share(name, volume, everybody, namespace);
    }

    /// Returns the name under which a removed dataset stays listed while it may have a key. No declared dataset
    /// can have this name.
    ///
    /// @param name its name, or its former name
    public static String formerName(String name, VolumeId.DatasetVolume volume) {
        return name.replaceFirst("@.*", "") + "@" + CephNames.dataset(volume);
    }

    /// Replaces the datasets that were published when the caller began to list them. Grants that [#share] made
    /// meanwhile stay. Costs nothing if nothing changes. Revocations are published even if new grants do not fit.
    ///
    /// @param before the publication at that time
    /// @return why datasets are not granted to all their readers, by name
    /// @throws DriverException as [#grant]
    public Map<String, String> shareOnly(Grants before, Map<String, Shared> datasets) {
        return shares.shareOnly(before, datasets);
    }

    /// Returns the grants in force, or those last published by an earlier controller.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the store cannot be read
    public Grants published() {
        return publication.granted();
    }

    /// Like [#published], but only once all groups have been read.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) before that, too, if the last publication was
    ///     partial
    public Grants whole() {
        Grants now = publication.granted();
        if (publication.wasPartial() && !loaded.containsAll(clusters.ids())) {
            throw new DriverException.BackendUnavailable("the groups of the accounts are not all read yet; retry");
        }
        return now;
    }

    /// Returns the warnings about space for grants.
    public Set<String> warnings() {
        return publication.warnings();
    }

    private boolean has(GroupKey place, String account, String namespace, String uid) {
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

    /// Reads the groups of clusters that are still unread. Throws only an [Error], because an exception would end
    /// the schedule.
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

    /// Publishes the grants again if somebody removed or changed them, and drops deleted namespaces. Throws only
    /// an [Error], like [#load].
    void republish() {
        try {
            publication.republish();
            dropVanished();
        } catch (DriverException notNow) {
            LOG.info("it is unknown whether the grants are still published: {}", notNow.getMessage());
        } catch (RuntimeException unforeseen) {
            LOG.error("it is unknown whether the grants are still published", unforeseen);
        }
    }

    /// Reads the note of a group's directory, plus the published grant if the note is not whole. An unreadable
    /// note counts as empty, so that it does not block others.
    private Optional<GrantNote> read(SubvolumeGroup group) {
        try {
            return files.note(group.cluster(), group.fileSystem(), group.path(), NOTE)
                    .map(GrantNote::parse)
                    .map(note -> whole(note, place(group)));
        } catch (DriverException.BackendFault unreadable) {
            LOG.warn("{}: its note {} grants nothing: {}", group, NOTE, unreadable.getMessage());
            return Optional.empty();
        }
    }

    private GrantNote whole(GrantNote note, GroupKey place) {
        return note.whole()
                ? note
                : publication.granted().of(place).map(note::with).orElse(note);
    }

    private void write(SubvolumeGroup group, GrantNote note) {
        files.setNote(group.cluster(), group.fileSystem(), group.path(), NOTE, note.text());
    }

    /// Replaces a cluster's publication by the notes found. Notes written meanwhile take precedence.
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
