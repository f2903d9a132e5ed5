package dev.siphon.controller.key;

import dev.siphon.controller.volume.AccountFreeze;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.Homes;
import dev.siphon.controller.volume.KeyMinting;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.Subvolumes;
import dev.siphon.controller.volume.Volumes;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Gives every volume its own identity, and removes it with the volume.
///
/// Minting takes as long as creating the volume and follows the reply to CreateVolume, because no node can stage
/// a volume sooner. Only volumes that show a snapshot get their key before the reply. Failed or interrupted
/// minting is retried ([#heal]).
public final class VolumeKeys implements KeyMinting, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeKeys.class);

    /// The mons mint identities one by one; more parallelism would only block callers' threads.
    private static final int AT_ONCE = 4;

    private static final Duration HEAL = Duration.ofSeconds(5);

    /// How often to check that nodes can still find the keys.
    private static final Duration LOOK = Duration.ofMinutes(10);

    private final Clusters clusters;
    private final Subvolumes subvolumes;
    private final FileTree files;
    private final AccountFreeze accountFreeze;
    private final Identities identities;
    private final KeyStore store;
    private final Supplier<Duration> timeLeft;

    /// Volumes whose keys are not minted yet; the future is done if minting failed.
    private final Map<VolumeId.Provisioned, CompletableFuture<Void>> pending = new ConcurrentHashMap<>();

    /// The highest generation found in the cluster, for volumes with replaced identities.
    private final Map<VolumeId.Provisioned, Integer> later = new ConcurrentHashMap<>();

    private final BiConsumer<VolumeId.Provisioned, String> adopted;
    private final OrphanedKeys orphans;
    private final Semaphore slots = new Semaphore(AT_ONCE);
    private final Set<String> looked = ConcurrentHashMap.newKeySet();
    private volatile List<BackgroundTasks.Task> running = List.of();

    /// @param timeLeft returns the time left until the caller's deadline
    public VolumeKeys(CephPorts ceph, Identities identities, KeyStore store, Supplier<Duration> timeLeft) {
        this(ceph, identities, store, timeLeft, (_, _) -> {});
    }

    /// @param adopted receives volumes with PersistentVolumes written by an administrator, and the namespaces of
    ///     their claims; must not block
    public VolumeKeys(
            CephPorts ceph,
            Identities identities,
            KeyStore store,
            Supplier<Duration> timeLeft,
            BiConsumer<VolumeId.Provisioned, String> adopted) {
        this.adopted = adopted;
        this.clusters = ceph.clusters();
        this.subvolumes = ceph.subvolumes();
        this.files = ceph.files();
        this.accountFreeze = new AccountFreeze(files);
        this.identities = identities;
        this.store = store;
        this.timeLeft = timeLeft;
        this.orphans = new OrphanedKeys(files, this::removeAll);
    }

    /// Starts the background tasks that mint missing keys.
    public VolumeKeys start(BackgroundTasks tasks) {
        return start(tasks, LOOK);
    }

    /// @param look how often to check that nodes can still find the keys
    VolumeKeys start(BackgroundTasks tasks, Duration look) {
        running = List.of(
                tasks.every("keys-heal", Duration.ZERO, HEAL, this::heal),
                tasks.every("keys-put-back", look, look, this::putBack));
        return this;
    }

    @Override
    public void close() {
        running.forEach(BackgroundTasks.Task::close);
    }

    @Override
    public void made(VolumeId.Provisioned volume, VolumeContext context, String name) {
        // a volume in doubt may have been recreated, so its stored key may be of the deleted one
        boolean doubtful = orphans.resolve(volume);
        if (!doubtful && store.mayHave(volume) && store.find(volume).isPresent()) {
            return;
        }
        store.named(volume, name);
        if (context.readOnly()) {
            // only the context says which snapshot the volume shows, so minting runs here; a retry repeats it if
            // interrupted
            mint(volume, context.dataPath().orElseThrow(), false);
        } else {
            begin(volume);
        }
    }

    private void begin(VolumeId.Provisioned volume) {
        CompletableFuture<Void> mine = new CompletableFuture<>();
        if (pending.putIfAbsent(volume, mine) == null) {
            Thread.ofVirtual().name("mint " + volume.subvolume()).start(() -> run(volume, mine));
        }
    }

    private void run(VolumeId.Provisioned volume, CompletableFuture<Void> mine) {
        try {
            slots.acquire();
            try {
                if (!store.hasPlaceFor(volume)) {
                    // an earlier controller created it, and no call has named it since
                    LOG.debug("volume {} has no key yet, and is retried: no call has named it", volume);
                    return;
                }
                store.claimedFrom(volume).ifPresent(namespace -> adopted.accept(volume, namespace));
                mintWhatItIs(volume);
            } finally {
                slots.release();
            }
            pending.remove(volume, mine);
            mine.complete(null);
        } catch (DriverException.NotFound gone) {
            orphans.miss(volume);
            pending.remove(volume, mine);
            mine.completeExceptionally(gone);
        } catch (DriverException failed) {
            LOG.warn("volume {} has no key yet, and is retried: {}", volume, failed.getMessage());
            mine.completeExceptionally(failed);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } finally {
            // waiting threads must never hang, whatever failed
            mine.cancel(false);
        }
    }

    private void mintWhatItIs(VolumeId.Provisioned volume) {
        if (!Volumes.isReadOnly(volume)) {
            mint(volume, Homes.behind(volume).subvolume(), true);
            return;
        }
        snapshotOf(volume)
                .ifPresentOrElse(
                        snapshot -> mint(volume, dataPath(snapshot), false),
                        () -> LOG.warn("volume {} has no key: the snapshot that it shows is missing", volume));
    }

    /// Retries failed minting, and mints keys that an earlier controller left out.
    private void heal() {
        pending.forEach((volume, failed) -> {
            if (failed.isDone() && pending.remove(volume, failed)) {
                begin(volume);
            }
        });
        clusters.ids().stream().filter(cluster -> !looked.contains(cluster)).forEach(cluster -> {
            scanIdentities(cluster, this::allVolumes);
        });
    }

    /// Restores keys removed from the store or the mons, and removes keys of deleted volumes. It compares store
    /// and mons only, because listing all volumes costs one Ceph call per account.
    private void putBack() {
        clusters.ids().stream().filter(looked::contains).forEach(cluster -> {
            orphans.scan(cluster);
            scanIdentities(cluster, seen -> seen.claimed().filter(store::hasPlaceFor));
        });
    }

    private void scanIdentities(String cluster, Function<IdentityScan, Stream<VolumeId.Provisioned>> volumes) {
        try {
            IdentityScan seen = new IdentityScan(
                    cluster,
                    clusters.fileSystems(cluster).stream()
                            .map(Clusters.FileSystem::name)
                            .toList(),
                    Set.copyOf(identities.startingWith(cluster, VolumeIdentity.PREFIX)),
                    store.userIds());
            seen.identities()
                    .filter(identity -> identity.generation() > 1)
                    .forEach(identity -> later.merge(identity.volume(), identity.generation(), Math::max));
            volumes.apply(seen)
                    .filter(volume -> canMint(volume) && !seen.hasKey(volume))
                    .forEach(this::begin);
            looked.add(cluster);
        } catch (DriverException notNow) {
            LOG.info("cluster {} is not searched yet for volumes without a key: {}", cluster, notNow.getMessage());
        }
    }

    /// Returns all volumes; records those that are missing but have left an identity or key.
    private Stream<VolumeId.Provisioned> allVolumes(IdentityScan seen) {
        Set<VolumeId.Provisioned> there = volumes(seen).collect(Collectors.toUnmodifiableSet());
        seen.claimed()
                .filter(volume -> Volumes.canHaveMade(volume) && !there.contains(volume))
                .forEach(orphans::miss);
        return there.stream();
    }

    private Stream<VolumeId.Provisioned> volumes(IdentityScan seen) {
        return seen.fileSystems().stream()
                .flatMap(fileSystem -> subvolumes.groups(seen.cluster(), fileSystem).stream()
                        .map(name -> new SubvolumeGroup(seen.cluster(), fileSystem, name)))
                .filter(Volumes::isOurs)
                .flatMap(group ->
                        subvolumes.list(group).orElse(List.of()).stream().map(group::volume));
    }

    private static boolean canMint(VolumeId.Provisioned volume) {
        return Volumes.canHaveMade(volume) && !Homes.isHome(volume);
    }

    /// Returns how many keys are not minted yet.
    int waiting() {
        return pending.size();
    }

    /// Mints the key of a volume now and stores it, replacing the stored one. Does nothing while the account is
    /// frozen. Not for volumes that show a snapshot, because only their context names it.
    public void mintNow(VolumeId.Provisioned volume) {
        mint(volume, Homes.behind(volume).subvolume(), true);
    }

    /// Like [#mintNow], for an account that is still frozen and about to be unfrozen.
    public void mintForFrozen(VolumeId.Provisioned volume) {
        mintAnyway(volume, Homes.behind(volume).subvolume(), true);
    }

    /// Like [#mintNow], for a volume that shows `snapshot`, while the account is still frozen.
    public void mintForFrozen(VolumeId.Provisioned volume, SnapshotId snapshot) {
        mintAnyway(volume, dataPath(snapshot), false);
    }

    /// Returns the caps for a volume's key, as read from the volume. Empty while its account is frozen, or if the
    /// snapshot that it shows is not found.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the volume does not exist
    public Optional<VolumeCaps> grantOf(VolumeId.Provisioned volume) {
        if (accountFreeze.isFrozen(SubvolumeGroup.of(volume))) {
            return Optional.empty();
        }
        if (Volumes.isReadOnly(volume)) {
            return snapshotOf(volume).map(snapshot -> grant(volume, dataPath(snapshot), false));
        }
        return Optional.of(grant(volume, Homes.behind(volume).subvolume(), true));
    }

    /// Finds the snapshot that a volume shows, by comparing the names of all snapshots of its account.
    public Optional<SnapshotId> snapshotOf(VolumeId.Provisioned shallow) {
        return new SnapshotSearch(subvolumes).of(shallow);
    }

    private static String dataPath(SnapshotId snapshot) {
        return snapshot.volume().subvolume() + "/.snap/" + snapshot.name();
    }

    /// Mints a key, except while the account is frozen: a frozen account has none.
    private void mint(VolumeId.Provisioned volume, String dataPath, boolean writable) {
        if (!accountFreeze.isFrozen(SubvolumeGroup.of(volume))) {
            mintAnyway(volume, dataPath, writable);
        }
    }

    private void mintAnyway(VolumeId.Provisioned volume, String dataPath, boolean writable) {
        orphans.minting(timeLeft.get(), () -> {
            String userId = latest(volume).userId();
            store.put(volume, identities.mint(volume.cluster(), userId, grant(volume, dataPath, writable)));
        });
    }

    /// Returns the identity that the volume has or will get; older ones may still exist.
    private VolumeIdentity latest(VolumeId.Provisioned volume) {
        return kept(volume).orElseGet(() -> new VolumeIdentity(volume, later.getOrDefault(volume, 1)));
    }

    private Optional<VolumeIdentity> kept(VolumeId.Provisioned volume) {
        return store.find(volume).flatMap(key -> VolumeIdentity.of(volume, key.userId()));
    }

    /// Returns the caps, with pool and namespace from the volume's layout. Throws [DriverException.NotFound] if
    /// the volume is gone.
    private VolumeCaps grant(VolumeId.Provisioned volume, String dataPath, boolean writable) {
        String group = SubvolumeGroup.of(volume).path();
        String data = files.dataDirectory(volume.cluster(), volume.fileSystem(), group + "/" + dataPath);
        FileTree.Layout layout = files.layout(volume.cluster(), volume.fileSystem(), data);
        return new VolumeCaps(
                volume.fileSystem(),
                group,
                writable ? Optional.of(data) : Optional.empty(),
                layout.pool(),
                layout.namespace());
    }

    @Override
    public void leaving(VolumeId.Provisioned volume) {
        orphans.markUncertain(volume);
    }

    @Override
    public void removed(VolumeId.Provisioned volume) {
        Optional.ofNullable(pending.get(volume)).ifPresent(minting -> {
            awaitEnd(volume, minting);
            pending.remove(volume, minting);
        });
        removeAll(volume);
        boolean _ = orphans.resolve(volume);
    }

    /// Removes all identities of a volume, and its key. If the store does not know the last generation, the mons
    /// are asked.
    private void removeAll(VolumeId.Provisioned volume) {
        Stream<VolumeIdentity> all = kept(volume)
                .map(identity -> IntStream.rangeClosed(
                                1, Math.max(identity.generation(), later.getOrDefault(volume, 1)))
                        .mapToObj(generation -> new VolumeIdentity(volume, generation)))
                .orElseGet(() -> minted(volume));
        all.forEach(identity -> identities.remove(volume.cluster(), identity.userId()));
        store.remove(volume);
        later.remove(volume);
    }

    private Stream<VolumeIdentity> minted(VolumeId.Provisioned volume) {
        return identities
                .startingWith(volume.cluster(), VolumeIdentity.first(volume).userId())
                .stream()
                .flatMap(userId -> VolumeIdentity.of(volume, userId).stream());
    }

    /// Waits for minting in progress, because a key minted now would outlive the volume.
    private void awaitEnd(VolumeId.Provisioned volume, CompletableFuture<Void> minting) {
        try {
            minting.get(timeLeft.get().toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | CancellationException _) {
            // nothing was minted, or it is removed next
        } catch (TimeoutException _) {
            throw new DriverException.OperationPending("the key of volume " + volume + " is being created; retry");
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("the driver is stopping; retry");
        }
    }
}
