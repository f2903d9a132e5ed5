package dev.siphon.controller.dataset;

import dev.siphon.controller.identity.Namespaces;
import dev.siphon.controller.key.DatasetKeyStore;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.ClaimRef;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.Volume;
import dev.siphon.controller.volume.VolumeRequest;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;

/// The volumes that show a dataset to a claim. They hold nothing and cost nothing: to make one is to look whether
/// the claim's namespace may read the dataset, and to hand out the dataset's key.
public final class DatasetVolumes {
    private final Clusters clusters;
    private final DatasetCatalog datasets;
    private final Optional<Namespaces> kubernetes;
    private final DatasetReaders readers;
    private final Optional<Keys> keys;

    /// How volumes get keys.
    ///
    /// @param store where nodes find them
    public record Keys(DatasetIdentities identities, DatasetKeyStore store) {
        private static final int MOST_NAMED = 5;

        /// Keeps a volume, with a copy of its dataset's key unless nodes ask for theirs.
        ///
        /// @param check whether the dataset is still declared, while nobody can take it back
        /// @throws DriverException.OperationPending (ABORTED) if that key is being removed
        void give(VolumeId.DatasetVolume volume, String name, Runnable check) {
            VolumeId.DatasetVolume dataset = volume.forNobody();
            keeping(dataset, check, () -> {
                Optional<VolumeKey> key = store.nodesAsk() ? Optional.empty() : Optional.of(identities.mint(dataset));
                store.put(volume, name, key);
                return volume;
            });
        }

        /// The key by which a node reads a dataset; nothing is kept of it.
        ///
        /// @param node its name
        /// @param check as with [#give]
        /// @throws DriverException.OperationPending (ABORTED) if that key is being removed
        VolumeKey mint(VolumeId.DatasetVolume dataset, String node, Runnable check) {
            return keeping(dataset, check, () -> identities.mint(dataset, node));
        }

        /// Gives a volume that has none a copy.
        ///
        /// @throws DriverException.OperationPending (ABORTED) as [#give]
        void fill(VolumeId.DatasetVolume volume) {
            VolumeId.DatasetVolume dataset = volume.forNobody();
            var _ = keeping(dataset, () -> {}, () -> {
                store.replace(volume, Optional.of(identities.mint(dataset)));
                return volume;
            });
        }

        private <T> T keeping(VolumeId.DatasetVolume dataset, Runnable check, Supplier<T> action) {
            Lock keeping = identities.lock(dataset).readLock();
            if (!keeping.tryLock()) {
                throw new DriverException.OperationPending(
                        "the key of dataset " + dataset + ", which was declared no more, is being removed; retry");
            }
            try {
                check.run();
                return action.get();
            } finally {
                keeping.unlock();
            }
        }

        /// Ends a dataset that nobody uses: takes it back, and removes its identity.
        ///
        /// @param withdraw takes back what declares it
        /// @throws DriverException.InUse (FAILED_PRECONDITION) if a volume has a copy of its key; then nothing
        /// is done
        /// @throws DriverException.OperationPending (ABORTED) if a volume is being given one
        public void end(VolumeId.DatasetVolume dataset, String name, Runnable withdraw) {
            Lock removing = identities.lock(dataset).writeLock();
            if (!removing.tryLock()) {
                throw new DriverException.OperationPending(
                        "a volume is being made that shows dataset " + name + "; retry");
            }
            try {
                List<String> users = store.users(dataset);
                if (!users.isEmpty()) {
                    throw new DriverException.InUse("dataset " + name + " is in use by " + some(users)
                            + ": delete those first, their claims and pods");
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

        /// Removes a dataset's identity if no volume has a copy of its key, or is being given one.
        ///
        /// @return whether there is none any more
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

    /// @param kubernetes knows claims; empty if the driver has no Kubernetes to ask
    /// @param keys empty if whoever mounts brings a key
    public DatasetVolumes(
            Clusters clusters,
            DatasetCatalog datasets,
            Optional<Namespaces> kubernetes,
            DatasetReaders readers,
            Optional<Keys> keys) {
        this.clusters = clusters;
        this.datasets = datasets;
        this.kubernetes = kubernetes;
        this.readers = readers;
        this.keys = keys;
    }

    /// The dataset that a request is about: the class names it, or the claim itself (1 round trip to the API
    /// server, for requests that only read). Empty if it is about none.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the claim is gone
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if class and claim name two
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
                    + ", and the PVC's annotation " + ClaimRef.DATASET + " another one, " + ofClaim.get());
        }
        return ofClass.or(() -> ofClaim);
    }

    /// Whether the claim of a request may show a dataset (CSI v1.13, CreateVolume). Makes nothing.
    ///
    /// @param name of the dataset, as [#wanted] says
    /// @throws DriverException.NotFound (NOT_FOUND) if there is no such dataset
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the claim's namespace may not read it
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is to be written or filled, or nobody says
    ///     which namespace asks
    /// @throws DriverException.CapacityOutOfRange (OUT_OF_RANGE) if it is larger than what is asked for at most
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if what is declared of the dataset cannot be, or whoever
    ///     would read it or has sealed it is frozen
    public Shown check(VolumeRequest request, String name) {
        checkRequest(request, name);
        Dataset dataset = datasets.find(name)
                .orElseThrow(() -> new DriverException.NotFound("there is no dataset " + QuotedText.of(name)));
        Optional<String> namespace = request.parameters().claim().map(ClaimRef::namespace);
        checkReader(dataset, namespace);
        VolumeId.DatasetVolume volume = volume(dataset);
        readers.checkOwner(volume, name);
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
    /// @param name of the volume, as the request has it
    /// @param namespace that may use it; empty if nobody says
    public record Shown(
            VolumeId.DatasetVolume id,
            String name,
            long bytes,
            VolumeContext context,
            Dataset dataset,
            Optional<String> namespace) {}

    /// Makes the volume, or makes it again: nothing is kept of it but its key.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the dataset was deleted meanwhile
    /// @throws DriverException.OperationPending (ABORTED) if the dataset's key is being removed
    public Volume create(Shown shown) {
        keys.ifPresent(all -> all.give(shown.id(), shown.name(), () -> checkStill(shown.dataset())));
        return new Volume(shown.id(), shown.bytes(), Optional.of(shown.context()), Optional.empty());
    }

    /// What a pod mounts that names a dataset itself.
    ///
    /// @param volume of that pod's volume alone
    public record Opened(VolumeId.DatasetVolume volume, VolumeContext context, VolumeKey key) {}

    /// A pod that names a dataset itself.
    ///
    /// @param volume tells its volume from all others
    /// @param node the name of the one that it is on
    public record VolumeReader(String namespace, String volume, String node) {}

    /// Opens a dataset for a pod that names it itself, without a claim. Nothing is kept of it. May be repeated.
    ///
    /// @param text how the pod names the dataset
    /// @throws DriverException as [#create]
    public Opened open(String text, VolumeReader pod) {
        String called = Dataset.name("volume attribute dataset", text);
        Dataset dataset = datasets.find(called)
                .orElseThrow(() -> new DriverException.NotFound("there is no dataset " + QuotedText.of(called)));
        checkReader(dataset, Optional.of(pod.namespace()));
        VolumeId.DatasetVolume volume = volume(dataset);
        return opened(dataset, claimed(dataset, volume, pod.volume()), pod.node());
    }

    /// Opens a dataset for a pod that has a claim for it. Nothing is kept of it. May be repeated.
    ///
    /// @param claimed the claim's volume
    /// @param names those that a dataset may have which is where the volume is
    /// @throws DriverException.NotFound (NOT_FOUND) if none is declared there
    /// @throws DriverException as [#open]
    public Opened openClaimed(VolumeId.DatasetVolume claimed, List<String> names, VolumeReader pod) {
        Optional<Dataset> dataset = names.stream()
                .flatMap(name -> datasets.find(name).stream())
                .filter(each -> volume(each).equals(claimed.forNobody()))
                .findFirst();
        Dataset found = dataset.orElseThrow(() -> new DriverException.NotFound(
                "the dataset that volume " + claimed + " shows is no more: nobody may read it"));
        checkReader(found, Optional.of(pod.namespace()));
        return opened(found, claimed, pod.node());
    }

    /// Opens a dataset for a node that is to keep a replica of it, for no pod. Nothing is kept of it. May be
    /// repeated.
    ///
    /// @param name as [DatasetVolume#name] gives it
    /// @param node the node's name
    /// @throws DriverException as [#create], of a dataset; whoever may say what a node keeps has looked at
    ///     readers
    public Opened openForNode(String name, String node) {
        Dataset dataset = datasets.find(name)
                .orElseThrow(() -> new DriverException.NotFound("there is no dataset " + QuotedText.of(name)));
        return opened(dataset, volume(dataset), node);
    }

    private Opened opened(Dataset dataset, VolumeId.DatasetVolume volume, String node) {
        Keys minting = keys.orElseThrow(
                () -> new DriverException.InUse("this driver mints no keys, so pods cannot name datasets themselves"));
        return new Opened(
                volume,
                context(volume(dataset), VolumeContext.MounterChoice.AUTO, List.of()),
                minting.mint(volume.forNobody(), node, () -> checkStill(dataset)));
    }

    /// One that was taken back since it was looked up has no image any more.
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
                + " is not everybody's, and nobody says which namespace asks: run the provisioner with"
                + " --extra-create-metadata"));
        if (!readers.mayRead(dataset, asking)) {
            throw new DriverException.AccessDenied("namespace " + QuotedText.of(asking) + " is no reader of dataset "
                    + dataset.name() + ": whoever administers it may add the account of that namespace, or a group that"
                    + " it is in, to its readers");
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
            return volume.forClaim(CephNames.datasetClaim(volume, name));
        } catch (DriverException.InvalidRequest tooLong) {
            throw new DriverException.InUse(
                    "dataset " + dataset.name() + " is in too deep a directory: " + tooLong.getMessage());
        }
    }

    /// Removes the volume of a claim; the dataset stays. One that is not there is no error (CSI v1.13,
    /// DeleteVolume).
    public void delete(VolumeId.DatasetVolume volume) {
        keys.ifPresent(all -> all.store().remove(volume));
    }
}
