package dev.siphon.controller.dataset;

import dev.siphon.controller.key.DatasetIdentity;
import dev.siphon.controller.key.Identities;
import dev.siphon.controller.key.VolumeCaps;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The cephx identities of datasets; each may read its dataset's directory and nothing else. Each node that
/// requests a dataset has its own. One more is shared: volumes of claims have copies of its key.
public final class DatasetIdentities {
    private static final Logger LOG = LoggerFactory.getLogger(DatasetIdentities.class);

    /// Most node identities in all clusters together: docs/adr/0035 gives their cost for the mons.
    static final int MOST = 10_000;

    private static final int MANY = MOST / 10 * 8;

    /// Most node identities for the datasets of one account, once half of [#MOST] exist.
    static final int OF_ACCOUNT = MOST / 8;

    private final FileTree files;
    private final Identities identities;
    private final Supplier<Optional<String>> owner;
    private final long started = System.nanoTime();

    /// The known node identities, by cluster and id, each with the time when its key was last given out.
    private final NavigableMap<String, Long> ofNodes = new ConcurrentSkipListMap<>();

    /// Pool and namespace of each declared dataset that has a RADOS namespace of its own.
    private final Map<VolumeId.DatasetVolume, FileTree.Layout> apart = new ConcurrentHashMap<>();

    /// The accounts that own declared datasets.
    private volatile Map<VolumeId.DatasetVolume, String> accounts = Map.of();

    /// One lock per dataset whose key was given to volumes or removed.
    private final Map<VolumeId.DatasetVolume, ReadWriteLock> locks = new ConcurrentHashMap<>();

    /// @param owner the owner recorded in [DatasetIdentity]; called each time, and may throw what its Kubernetes
    ///     throws
    public DatasetIdentities(FileTree files, Identities identities, Supplier<Optional<String>> owner) {
        this.files = files;
        this.identities = identities;
        this.owner = owner;
    }

    private DatasetIdentity shared(VolumeId.DatasetVolume dataset) {
        return new DatasetIdentity(dataset.fileSystem(), CephNames.dataset(dataset), owner.get(), Optional.empty());
    }

    /// Whether an identity was minted for this Kubernetes cluster; then no other cluster's nodes know its key.
    boolean isOwn(DatasetIdentity identity) {
        return identity.owner().equals(owner.get());
    }

    /// Whether it may be this cluster's own: earlier controllers recorded no owner.
    boolean mayBeOwn(DatasetIdentity identity) {
        return identity.owner().isEmpty() || isOwn(identity);
    }

    /// Checks whether a dataset can have an identity: 1 round trip to the MDS, unless an earlier check succeeded.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) as [#mint]
    void check(VolumeId.DatasetVolume dataset) {
        if (!apart.containsKey(dataset)) {
            apart.put(dataset, namespaceOf(dataset));
        }
        checkAlone(dataset);
    }

    /// Whether an earlier check of a dataset's directory is cached.
    boolean isKnown(VolumeId.DatasetVolume dataset) {
        return apart.containsKey(dataset);
    }

    /// Forgets undeclared datasets, so that another dataset may use their RADOS namespaces.
    ///
    /// @param declared each with its owner's account, if it has one
    void keepOnly(Map<VolumeId.DatasetVolume, Optional<String>> declared) {
        apart.keySet().retainAll(declared.keySet());
        Map<VolumeId.DatasetVolume, String> owned = new HashMap<>();
        declared.forEach((dataset, account) -> account.ifPresent(name -> owned.put(dataset, name)));
        accounts = Map.copyOf(owned);
    }

    /// Returns the key of a dataset's identity for volumes of claims; mints it if necessary: 1 round trip to the
    /// MDS, 1 mon command.
    ///
    /// @param dataset without a claim
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if its directory does not exist, or its objects have no
    ///     RADOS namespace of their own (a key would open others too)
    /// @throws DriverException as [Identities#mint]
    VolumeKey mint(VolumeId.DatasetVolume dataset) {
        return identities.mint(dataset.cluster(), shared(dataset).userId(), grant(dataset));
    }

    /// Returns the key with which a node reads a dataset; mints it if necessary: 1 round trip to the MDS, 1 mon
    /// command, and 2 more for each identity that is being revoked.
    ///
    /// @param dataset without a claim
    /// @param node its name
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if nodes have [#MOST] already, or the owner's
    ///     account has reached its share
    /// @throws DriverException.OperationPending (ABORTED) if all identities that the node may have for it are being
    ///     revoked
    /// @throws DriverException as [#mint(VolumeId.DatasetVolume)]
    VolumeKey mint(VolumeId.DatasetVolume dataset, String node) {
        VolumeCaps volumeCaps = grant(dataset);
        DatasetIdentity shared = shared(dataset);
        return IntStream.rangeClosed(1, DatasetIdentity.ATTEMPTS)
                .mapToObj(attempt -> new DatasetIdentity(
                        shared.fileSystem(),
                        shared.dataset(),
                        shared.owner(),
                        Optional.of(new DatasetIdentity.AtNode(DatasetIdentity.nameOf(node), attempt))))
                .flatMap(identity -> mint(dataset, identity.userId(), volumeCaps).stream())
                .findFirst()
                .orElseThrow(() -> new DriverException.OperationPending("all keys of dataset " + dataset + " for node "
                        + node + " are being revoked (" + DatasetIdentity.ATTEMPTS
                        + "): run `siphon key revoke --node " + node + "` to finish that, then retry"));
    }

    private Optional<VolumeKey> mint(VolumeId.DatasetVolume dataset, String userId, VolumeCaps volumeCaps) {
        String key = key(dataset.cluster(), userId);
        if (!ofNodes.containsKey(key)) {
            checkRoom(dataset);
        }
        Optional<VolumeKey> minted = identities.mintUnlessRetired(dataset.cluster(), userId, volumeCaps);
        ofNodes.put(key, now());
        return minted;
    }

    private void checkRoom(VolumeId.DatasetVolume dataset) {
        if (ofNodes.size() >= MOST) {
            throw new DriverException.QuotaExhausted("nodes have " + MOST + " keys of datasets, the most that"
                    + " Siphon gives to Ceph's mons: use fewer datasets on fewer nodes; keys that no pod uses"
                    + " are removed within 20 minutes");
        }
        Optional<String> account = Optional.ofNullable(accounts.get(dataset));
        if (ofNodes.size() >= MOST / 2 && account.isPresent() && ofAccount(account.get()) >= OF_ACCOUNT) {
            throw new DriverException.QuotaExhausted("nodes have " + OF_ACCOUNT + " keys of the datasets of account "
                    + account.get()
                    + ", the most for one account: use fewer of its datasets on fewer nodes; keys that no pod"
                    + " uses are removed within 20 minutes");
        }
    }

    /// Counts the known node identities for the datasets of an account.
    private long ofAccount(String account) {
        return accounts.entrySet().stream()
                .filter(each -> each.getValue().equals(account))
                .map(each -> key(each.getKey().cluster(), shared(each.getKey()).userId()))
                .mapToLong(shared -> ofNodes.subMap(shared + ".", shared + "." + Character.MAX_VALUE)
                        .size())
                .sum();
    }

    private static String key(String cluster, String userId) {
        return cluster + " " + userId;
    }

    /// Returns the clock of [#removeIdle], in nanoseconds from an arbitrary origin.
    long now() {
        return System.nanoTime();
    }

    /// Returns the ids of all dataset identities in a cluster: 1 mon command. Also updates the count of node
    /// identities.
    ///
    /// @param begun an identity whose key was given out since then counts, listed or not
    List<String> listed(String cluster, long begun) {
        List<String> listed = identities.startingWith(cluster, DatasetIdentity.PREFIX);
        Set<String> keys = listed.stream().map(userId -> key(cluster, userId)).collect(Collectors.toSet());
        ofNodes.entrySet()
                .removeIf(each -> each.getKey().startsWith(key(cluster, ""))
                        && !keys.contains(each.getKey())
                        && each.getValue() - begun < 0);
        keys.forEach(key -> ofNodes.putIfAbsent(key, started));
        if (ofNodes.size() > MANY) {
            LOG.warn("nodes have {} keys of datasets; the limit is {}", ofNodes.size(), MOST);
        }
        return listed;
    }

    /// Removes a node's identity, unless the node got its key recently or is getting it now.
    ///
    /// @param since by the clock of [#now]
    /// @return whether it was removed
    boolean removeIdle(VolumeId.DatasetVolume dataset, String userId, long since) {
        Lock removing = lock(dataset).writeLock();
        if (!removing.tryLock()) {
            return false;
        }
        try {
            String key = key(dataset.cluster(), userId);
            if (ofNodes.getOrDefault(key, started) - since > 0) {
                return false;
            }
            identities.remove(dataset.cluster(), userId);
            ofNodes.remove(key);
            return true;
        } finally {
            removing.unlock();
        }
    }

    private VolumeCaps grant(VolumeId.DatasetVolume dataset) {
        FileTree.Layout layout = namespaceOf(dataset);
        apart.put(dataset, layout);
        checkAlone(dataset);
        return new VolumeCaps(
                dataset.fileSystem(), dataset.path(), Optional.empty(), layout.pool(), layout.namespace());
    }

    private FileTree.Layout namespaceOf(VolumeId.DatasetVolume dataset) {
        FileTree.Layout layout = layout(dataset);
        if (layout.namespace().isEmpty()) {
            throw notApart(dataset);
        }
        return layout;
    }

    private void checkAlone(VolumeId.DatasetVolume dataset) {
        Optional<FileTree.Layout> layout = Optional.ofNullable(apart.get(dataset));
        apart.forEach((other, its) -> {
            boolean same = other.fileSystem().equals(dataset.fileSystem())
                    && other.path().equals(dataset.path());
            if (!same && other.cluster().equals(dataset.cluster()) && layout.equals(Optional.of(its))) {
                throw new DriverException.InUse("the objects of " + dataset.path() + " and of " + other.path()
                        + ", another dataset, share RADOS namespace " + its.namespace() + " of pool "
                        + its.pool() + ". A key for one would open the other: give each dataset its own"
                        + " namespace, and write its image again");
            }
        });
    }

    private static DriverException.InUse notApart(VolumeId.DatasetVolume dataset) {
        return new DriverException.InUse("the objects of " + dataset.path() + " have no RADOS namespace of"
                + " their own. A key for them would open others' objects too: before you write an image"
                + " there, run `setfattr -n ceph.dir.layout.pool_namespace -v NAME` on that directory");
    }

    private FileTree.Layout layout(VolumeId.DatasetVolume dataset) {
        try {
            return files.layout(dataset.cluster(), dataset.fileSystem(), dataset.path());
        } catch (DriverException.InUse _) {
            throw notApart(dataset);
        } catch (DriverException.NotFound _) {
            throw new DriverException.InUse("there is no directory " + dataset.path() + " in file system "
                    + dataset.fileSystem() + " of cluster " + dataset.cluster()
                    + ", but the dataset is declared there");
        }
    }

    /// Returns a dataset's lock: held for reading while its key is given out, for writing while the identity is
    /// removed.
    ReadWriteLock lock(VolumeId.DatasetVolume dataset) {
        return locks.computeIfAbsent(dataset, _ -> new ReentrantReadWriteLock());
    }

    /// Removes all identities of a dataset except those of other Kubernetes clusters: 1 mon command, and 1 for each
    /// identity. Succeeds if there is none.
    void remove(VolumeId.DatasetVolume dataset) {
        DatasetIdentity shared = shared(dataset);
        String begin = DatasetIdentity.allOf(shared.fileSystem(), shared.dataset());
        identities.startingWith(dataset.cluster(), begin).stream()
                .filter(userId -> DatasetIdentity.parse(dataset.fileSystem(), userId)
                        .filter(identity -> !identity.equals(shared)
                                && identity.dataset().equals(shared.dataset())
                                && mayBeOwn(identity))
                        .isPresent())
                .forEach(userId -> identities.remove(dataset.cluster(), userId));
        identities.remove(dataset.cluster(), shared.userId());
    }
}
