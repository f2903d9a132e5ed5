package dev.siphon.controller.dataset;

import dev.siphon.controller.grant.NamespaceGrants;
import dev.siphon.controller.identity.Namespaces;
import dev.siphon.controller.key.DatasetKeyStore;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.ClaimRef;
import dev.siphon.controller.volume.ClaimedDatasets;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.VolumeRequest;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;

/// The volumes that show a dataset to a claim or pod. They store nothing in Ceph: creating one checks whether the
/// claim's namespace may read the dataset, and, only for older nodes, gives out the shared key.
public final class DatasetVolumes implements ClaimedDatasets {
    private final Clusters clusters;
    private final DatasetCatalog datasets;
    private final Optional<Namespaces> kubernetes;
    private final DatasetReaders readers;
    private final Optional<Keys> keys;
    private final Optional<NamespaceGrants> grants;

    /// How volumes get keys.
    ///
    /// @param store where nodes find them
    public record Keys(DatasetIdentities identities, DatasetKeyStore store) {
        private static final int MOST_NAMED = 5;

        /// Stores a volume, with a copy of its dataset's key unless nodes request their own.
        ///
        /// @param check fails if the dataset is no longer declared; runs under the lock against its removal
        /// @throws DriverException.OperationPending (ABORTED) if the dataset's key is being removed
        void give(VolumeId.DatasetVolume volume, String name, Runnable check) {
            VolumeId.DatasetVolume dataset = volume.withoutClaim();
            keeping(dataset, check, () -> {
                Optional<VolumeKey> key = store.nodesAsk() ? Optional.empty() : Optional.of(identities.mint(dataset));
                store.put(volume, name, key);
                return volume;
            });
        }

        /// Returns the key with which a node reads a dataset; stores nothing.
        ///
        /// @param node its name
        /// @param check as for [#give]
        /// @throws DriverException.OperationPending (ABORTED) if the dataset's key is being removed
        VolumeKey mint(VolumeId.DatasetVolume dataset, String node, Runnable check) {
            return keeping(dataset, check, () -> identities.mint(dataset, node));
        }

        /// Gives a volume without a key a copy.
        ///
        /// @throws DriverException.OperationPending (ABORTED) as [#give]
        void fill(VolumeId.DatasetVolume volume) {
            VolumeId.DatasetVolume dataset = volume.withoutClaim();
            var _ = keeping(dataset, () -> {}, () -> {
                store.replace(volume, Optional.of(identities.mint(dataset)));
                return volume;
            });
        }

        private <T> T keeping(VolumeId.DatasetVolume dataset, Runnable check, Supplier<T> action) {
            Lock keeping = identities.lock(dataset).readLock();
            if (!keeping.tryLock()) {
                throw new DriverException.OperationPending(
                        "the key of dataset " + dataset + ", which is no longer declared, is being removed; retry");
            }
            try {
                check.run();
                return action.get();
            } finally {
                keeping.unlock();
            }
        }

        /// Deletes an unused dataset: withdraws its declaration and removes its identity.
        ///
        /// @param withdraw removes the declaration
        /// @throws DriverException.InUse (FAILED_PRECONDITION) if the store lists users of the dataset; then
        ///     nothing changes
        /// @throws DriverException.OperationPending (ABORTED) if a volume is getting the key now
        public void end(VolumeId.DatasetVolume dataset, String name, Runnable withdraw) {
            Lock removing = identities.lock(dataset).writeLock();
            if (!removing.tryLock()) {
                throw new DriverException.OperationPending("a volume is being made for dataset " + name + "; retry");
            }
            try {
                List<String> users = store.users(dataset);
                if (!users.isEmpty()) {
                    throw new DriverException.InUse("dataset " + name + " is in use by " + some(users)
                            + ": first delete the claims and pods of these");
                }
                withdraw.run();
                identities.remove(dataset);
            } finally {
                removing.unlock();
            }
        }

        private static String some(List<String> users) {
            String first = String.join(", ", users.subList(0, Math.min(users.size(), MOST_NAMED)));
            return users.size() > MOST_NAMED ? first + " and " + (users.size() - MOST_NAMED) + " more" : first;
        }

        /// Removes a dataset's identity, unless a volume of the dataset exists or is getting its key now.
        ///
        /// @return whether the identity is gone
        boolean removeUnused(VolumeId.DatasetVolume dataset) {
            Lock removing = identities.lock(dataset).writeLock();
            if (!removing.tryLock()) {
                return false;
            }
            try {
                if (store.hasAny(dataset)) {
                    return false;
                }
                identities.remove(dataset);
                return true;
            } finally {
                removing.unlock();
            }
        }
    }

    /// @param kubernetes reads claims; empty without Kubernetes
    /// @param keys empty if whoever mounts brings a key
    /// @param grants which namespaces may use a new volume; empty if that is not checked
    public DatasetVolumes(
            Clusters clusters,
            DatasetCatalog datasets,
            Optional<Namespaces> kubernetes,
            DatasetReaders readers,
            Optional<Keys> keys,
            Optional<NamespaceGrants> grants) {
        this.clusters = clusters;
        this.datasets = datasets;
        this.kubernetes = kubernetes;
        this.readers = readers;
        this.keys = keys;
        this.grants = grants;
    }

    @Override
    public Optional<String> wanted(VolumeRequest request) {
        Optional<String> ofClass = request.parameters()
                .dataset()
                .map(text -> Dataset.name("parameter " + ClaimRef.DATASET_PARAMETER, text));
        Optional<String> ofClaim = request.readOnly()
                ? request.parameters()
                        .claim()
                        .flatMap(claim -> kubernetes.flatMap(claim::annotations))
                        .map(annotations -> annotations.getOrDefault(ClaimRef.DATASET, ""))
                        .filter(text -> !text.isEmpty())
                        .map(text -> Dataset.name("annotation " + ClaimRef.DATASET, text))
                : Optional.empty();
        if (ofClass.isPresent() && ofClaim.isPresent() && !ofClass.equals(ofClaim)) {
            throw new DriverException.InvalidRequest("the class names dataset " + ofClass.get()
                    + ", but the PVC's annotation " + ClaimRef.DATASET + " names another, " + ofClaim.get());
        }
        return ofClass.or(() -> ofClaim);
    }

    @Override
    public Volume show(VolumeRequest request, String name) {
        Shown shown = check(request, name);
        // This may be refused, so it comes before anything is created.
        grants.ifPresent(access -> access.share(
                shown.dataset().name(),
                shown.id().withoutClaim(),
                shown.dataset().isForEverybody(),
                shown.namespace()));
        return create(shown);
    }

    /// Checks whether the claim of a request may show a dataset (CSI v1.13, CreateVolume). Creates nothing.
    ///
    /// @param name of the dataset, from [#wanted]
    /// @throws DriverException.NotFound (NOT_FOUND) if there is no such dataset
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the claim's namespace may not read it
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the request writes or fills it, names a
    ///     container user, or lacks the namespace needed to check readers
    /// @throws DriverException.CapacityOutOfRange (OUT_OF_RANGE) if the dataset is larger than the requested limit
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the dataset's declaration is invalid, or the account
    ///     that reads or sealed it is frozen
    public Shown check(VolumeRequest request, String name) {
        checkRequest(request, name);
        Dataset dataset = datasets.find(name)
                .orElseThrow(() -> new DriverException.NotFound("there is no dataset " + QuotedText.of(name)));
        Optional<String> namespace = request.parameters().claim().map(ClaimRef::namespace);
        checkReader(dataset, namespace);
        VolumeId.DatasetVolume volume = volume(dataset);
        readers.checkSealerNotFrozen(volume, name);
        VolumeId.DatasetVolume mine = claimed(dataset, volume, request.name());
        if (dataset.bytes() > 0
                && request.capacity().limitBytes() > 0
                && dataset.bytes() > request.capacity().limitBytes()) {
            throw new DriverException.CapacityOutOfRange("dataset " + name + " has " + dataset.bytes()
                    + " bytes, more than capacity_range.limit_bytes "
                    + request.capacity().limitBytes());
        }
        VolumeContext context = context(
                volume, request.parameters().mounter(), request.parameters().mountOptions());
        long bytes = Math.max(dataset.bytes(), request.capacity().requiredBytes());
        return new Shown(mine, request.name(), bytes, context, dataset, namespace);
    }

    /// A dataset as the volume of a claim.
    ///
    /// @param name of the volume, from the request
    /// @param namespace that may use it; empty if the request names none
    public record Shown(
            VolumeId.DatasetVolume id,
            String name,
            long bytes,
            VolumeContext context,
            Dataset dataset,
            Optional<String> namespace) {}

    /// Creates the volume. Idempotent: only its key is stored.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the dataset was deleted meanwhile
    /// @throws DriverException.OperationPending (ABORTED) if the dataset's key is being removed
    public Volume create(Shown shown) {
        keys.ifPresent(all -> all.give(shown.id(), shown.name(), () -> checkStill(shown.dataset())));
        return new Volume(shown.id(), shown.bytes(), Optional.of(shown.context()), Optional.empty());
    }

    /// What a pod with a dataset mounts.
    ///
    /// @param volume of that pod's volume alone
    public record Opened(VolumeId.DatasetVolume volume, VolumeContext context, VolumeKey key) {}

    /// A pod that reads a dataset.
    ///
    /// @param volume identifies its volume
    /// @param node the name of its node
    public record AskingPod(String namespace, String volume, String node) {}

    /// Opens a dataset for a pod that names it directly, without a claim. Stores nothing. Idempotent.
    ///
    /// @param text how the pod names the dataset
    /// @throws DriverException as [#check] and [#create]
    public Opened open(String text, AskingPod pod) {
        String called = Dataset.name("volume attribute dataset", text);
        Dataset dataset = datasets.find(called)
                .orElseThrow(() -> new DriverException.NotFound("there is no dataset " + QuotedText.of(called)));
        checkReader(dataset, Optional.of(pod.namespace()));
        VolumeId.DatasetVolume volume = volume(dataset);
        return opened(dataset, claimed(dataset, volume, pod.volume()), pod.node());
    }

    /// Opens a dataset for a pod with a claim. Stores nothing. Idempotent.
    ///
    /// @param claimed the claim's volume
    /// @param names possible names of the dataset at the volume's place
    /// @throws DriverException.NotFound (NOT_FOUND) if none is declared there
    /// @throws DriverException as [#open]
    public Opened openClaimed(VolumeId.DatasetVolume claimed, List<String> names, AskingPod pod) {
        Optional<Dataset> dataset = names.stream()
                .flatMap(name -> datasets.find(name).stream())
                .filter(each -> volume(each).equals(claimed.withoutClaim()))
                .findFirst();
        Dataset found = dataset.orElseThrow(() ->
                new DriverException.NotFound("the dataset of volume " + claimed + " was deleted: nobody may read it"));
        checkReader(found, Optional.of(pod.namespace()));
        return opened(found, claimed, pod.node());
    }

    /// Opens a dataset for a node that keeps a replica of it, without a pod. Stores nothing. Idempotent. Does not
    /// check readers: whoever orders the replica did.
    ///
    /// @param name as [Dataset#name] returns it
    /// @param node the node's name
    /// @throws DriverException as [#create]
    public Opened openForNode(String name, String node) {
        Dataset dataset = datasets.find(name)
                .orElseThrow(() -> new DriverException.NotFound("there is no dataset " + QuotedText.of(name)));
        return opened(dataset, volume(dataset), node);
    }

    private Opened opened(Dataset dataset, VolumeId.DatasetVolume volume, String node) {
        Keys minting = keys.orElseThrow(
                () -> new DriverException.InUse("this driver mints no keys, so nodes cannot ask for datasets"));
        return new Opened(
                volume,
                context(volume(dataset), VolumeContext.MounterChoice.AUTO, List.of()),
                minting.mint(volume.withoutClaim(), node, () -> checkStill(dataset)));
    }

    /// A dataset that was deleted since its lookup may have lost its image.
    private void checkStill(Dataset dataset) {
        if (datasets.find(dataset.name())
                .filter(now -> now.path().equals(dataset.path()))
                .isEmpty()) {
            throw new DriverException.NotFound("dataset " + dataset.name() + " was deleted meanwhile");
        }
    }

    private VolumeContext context(
            VolumeId.DatasetVolume volume, VolumeContext.MounterChoice mounter, List<String> mountOptions) {
        return new VolumeContext(
                clusters.monitors(volume.cluster()),
                volume.fileSystem(),
                volume.path(),
                Optional.empty(),
                mounter,
                mountOptions,
                true,
                Optional.empty(),
                Optional.empty());
    }

    private static void checkRequest(VolumeRequest request, String name) {
        if (!request.readOnly()) {
            throw new DriverException.InvalidRequest(
                    "dataset " + name + " can only be read: ask for ReadOnlyMany alone (accessModes of the PVC)");
        }
        if (request.source().isPresent()) {
            throw new DriverException.InvalidRequest("dataset " + name
                    + " has contents of its own: leave out the source of the volume (dataSource of the PVC)");
        }
        if (request.parameters().containerUser().isPresent()) {
            throw new DriverException.InvalidRequest(
                    "dataset " + name + " belongs to nobody: a class with containerUser cannot show it");
        }
    }

    private void checkReader(Dataset dataset, Optional<String> namespace) {
        if (dataset.isForEverybody()) {
            return;
        }
        String asking = namespace.orElseThrow(() -> new DriverException.InvalidRequest("dataset " + dataset.name()
                + " is not for everybody, but the request does not say which namespace asks: run the"
                + " provisioner with --extra-create-metadata"));
        if (!readers.mayRead(dataset, asking)) {
            throw new DriverException.AccessDenied("namespace " + QuotedText.of(asking) + " is no reader of dataset "
                    + dataset.name() + ": its administrator may add the namespace's account, or a group of that"
                    + " account, to its readers");
        }
    }

    private VolumeId.DatasetVolume volume(Dataset dataset) {
        try {
            VolumeId.DatasetVolume volume = dataset.volume(clusters.defaultCluster());
            if (clusters.ids().contains(volume.cluster())) {
                return volume;
            }
            throw new DriverException.InvalidRequest("cluster " + volume.cluster() + " is none of " + clusters.ids());
        } catch (DriverException.InvalidRequest wrong) {
            throw new DriverException.InUse("dataset " + dataset.name() + " is declared wrong: " + wrong.getMessage());
        }
    }

    private static VolumeId.DatasetVolume claimed(Dataset dataset, VolumeId.DatasetVolume volume, String name) {
        try {
            return volume.forUse(CephNames.datasetClaim(volume, name));
        } catch (DriverException.InvalidRequest tooLong) {
            throw new DriverException.InUse(
                    "dataset " + dataset.name() + " is in too deep a directory: " + tooLong.getMessage());
        }
    }

    @Override
    public void remove(VolumeId.DatasetVolume volume) {
        keys.ifPresent(all -> all.store().remove(volume));
    }
}
