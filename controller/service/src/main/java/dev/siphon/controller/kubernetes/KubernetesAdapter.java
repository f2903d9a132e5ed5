package dev.siphon.controller.kubernetes;

import dev.siphon.controller.dataset.DatasetCatalog;
import dev.siphon.controller.dataset.DatasetUsageCluster;
import dev.siphon.controller.dataset.DatasetVolumes;
import dev.siphon.controller.explain.ClusterObjects;
import dev.siphon.controller.grant.GrantsStore;
import dev.siphon.controller.grant.NamespaceAccessStore;
import dev.siphon.controller.identity.Namespaces;
import dev.siphon.controller.imports.ImportCluster;
import dev.siphon.controller.key.DatasetKeyStore;
import dev.siphon.controller.key.KeyStore;
import dev.siphon.controller.key.NodeKernels;
import dev.siphon.controller.monitor.MonitorSource;
import dev.siphon.controller.monitor.MonitorStore;
import dev.siphon.controller.recovery.ClusterRecords;
import dev.siphon.controller.seal.SealingCluster;
import dev.siphon.controller.warm.AdmissionQueue;
import dev.siphon.controller.warm.WarmupCluster;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/// Creates the adapters for all ports that Kubernetes serves; they share one client.
public final class KubernetesAdapter implements AutoCloseable {
    private final KubernetesApi api;
    private final String driver;
    private final PersistentVolumes persistentVolumes;
    private final RunningPods running;
    private final ReplicaObjects replicas;
    private final DatasetAccesses accesses;
    private final KubernetesDatasetCatalog datasets;
    private final KeyStore keys;

    /// Empty until first read.
    private volatile String clusterUid = "";

    /// Empty until followed.
    private volatile Optional<WatchedNamespaces> namespaces = Optional.empty();

    private KubernetesAdapter(KubernetesApi api, String driver) {
        this.api = api;
        this.driver = driver;
        this.persistentVolumes = new PersistentVolumes(api, driver);
        this.running = new RunningPods(api, new PodParser(driver));
        this.replicas = new ReplicaObjects(api);
        this.accesses = new DatasetAccesses(api);
        this.datasets = new KubernetesDatasetCatalog(api);
        this.keys = new KubernetesKeyStore(api, persistentVolumes);
    }

    /// Creates the adapter without sending a request.
    ///
    /// @param driver the CSI driver's name, as in PersistentVolumes
    /// @param timeLeft the rest of the caller's deadline
    public static KubernetesAdapter open(KubernetesAccess access, String driver, Supplier<Duration> timeLeft) {
        return new KubernetesAdapter(new KubernetesApi(access, timeLeft), driver);
    }

    /// As above, with another clock for this machine.
    static KubernetesAdapter open(
            KubernetesAccess access, String driver, Supplier<Duration> timeLeft, InstantSource clock) {
        return new KubernetesAdapter(new KubernetesApi(access, timeLeft, clock), driver);
    }

    /// Keeps volumes, pods, namespaces and datasets current by watches until it is closed; before that, each read
    /// lists.
    ///
    /// @param annotations the keys of namespaces' annotations to keep
    public AutoCloseable follow(BackgroundTasks tasks, Set<String> annotations) {
        WatchedNamespaces watched = new WatchedNamespaces(api, annotations);
        List<BackgroundTasks.Task> watches = List.of(
                watched.follow(tasks),
                persistentVolumes.follow(tasks, () -> {}),
                running.follow(tasks, () -> {}),
                replicas.follow(tasks, () -> {}),
                accesses.follow(tasks),
                datasets.follow(tasks));
        namespaces = Optional.of(watched);
        return () -> watches.forEach(BackgroundTasks.Task::close);
    }

    /// Returns the store of volumes' keys.
    public KeyStore keys() {
        return keys;
    }

    /// Returns the store of published grants.
    public GrantsStore grants() {
        return new KubernetesGrantsStore(api, driver);
    }

    /// Returns the store that shows people what namespaces may use.
    public NamespaceAccessStore namespaceAccess() {
        return new KubernetesNamespaceAccessStore(api, driver);
    }

    /// Returns the monitors of Rook's cluster in a namespace.
    public MonitorSource rookMonitors(String rookNamespace) {
        return new RookMonitors(api, rookNamespace);
    }

    /// Returns the store where nodes read the monitors of all clusters.
    public MonitorStore monitors() {
        return new KubernetesMonitorStore(api);
    }

    /// Returns the API server's clock, which sets creation times.
    public InstantSource clock() {
        return api.clock();
    }

    /// Returns the driver's own namespace.
    public String namespace() {
        return api.namespace();
    }

    /// Returns what distinguishes this Kubernetes cluster from others: the uid of namespace `kube-system`, which
    /// cannot be deleted.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the API server does not reply, or the namespace
    ///     is missing
    public String clusterUid() {
        String known = clusterUid;
        if (known.isEmpty()) {
            known = namespaces()
                    .uid("kube-system")
                    .orElseThrow(
                            () -> new DriverException.BackendUnavailable(
                                    "the Kubernetes API shows no namespace kube-system, whose uid tells its cluster from others"));
            clusterUid = known;
        }
        return known;
    }

    /// Returns the store of volumes that show datasets, and of their keys.
    ///
    /// @param always whether volumes have keys even though all nodes request their own
    public DatasetKeyStore datasetKeys(boolean always) {
        return new KubernetesDatasetKeyStore(api, accesses, always);
    }

    /// Returns what the kernels of nodes can use.
    public NodeKernels kernels() {
        return new KubernetesNodeKernels(api);
    }

    /// Returns the datasets that are declared as objects.
    public DatasetCatalog datasets() {
        return datasets;
    }

    /// Returns the pods that use datasets, with the recorded usage.
    public DatasetUsageCluster usingPods() {
        return new KubernetesDatasetUsage(api, datasets, persistentVolumes, running, replicas, accesses);
    }

    /// Handles requests of nodes for their pods' datasets, until it is closed.
    ///
    /// @param datasets decides each request
    /// @param names returns the possible names of the dataset behind a claim's volume
    public AutoCloseable answerNodes(
            DatasetVolumes datasets, Function<VolumeId.DatasetVolume, List<String>> names, BackgroundTasks tasks) {
        DatasetRequests.DatasetOpener opener = (dataset, pod) -> VolumeId.DatasetVolume.tryParse(dataset)
                .map(claimed -> datasets.openClaimed(claimed, names.apply(claimed), pod))
                .orElseGet(() -> datasets.open(dataset, pod));
        return new DatasetRequests(api, driver, accesses, opener).start(tasks);
    }

    /// Returns the pods that wait at the gate, and the orders for replicas.
    public WarmupCluster warming() {
        return warming(AdmissionQueue.NONE);
    }

    /// Returns the same, and Kueue's Workloads that wait for datasets.
    public WarmupCluster warmingWithKueue() {
        return warming(new KubernetesAdmissionQueue(api, new PodParser(driver)));
    }

    private WarmupCluster warming(AdmissionQueue queue) {
        return new KubernetesWarmupCluster(api, driver, running, replicas, persistentVolumes, accesses, queue);
    }

    /// Returns where packers run and their datasets are declared.
    public SealingCluster sealing() {
        return new KubernetesSealing(api, driver, datasets);
    }

    /// Returns the DatasetImports, and what is created for them.
    public ImportCluster imports() {
        return new KubernetesImports(api, driver, datasets);
    }

    /// Returns the records of volumes and snapshots for a copy elsewhere.
    public ClusterRecords records() {
        return new KubernetesRecords(api, driver);
    }

    /// Returns the annotations of namespaces and claims.
    public Namespaces namespaces() {
        return new KubernetesNamespaces(api, () -> namespaces);
    }

    /// Returns pods, claims, PersistentVolumes and events, for people who look for something.
    public ClusterObjects objects() {
        return new KubernetesObjects(api, driver);
    }

    /// Lists the volumes that have a PersistentVolume now.
    public Set<VolumeId.Provisioned> volumesWithPersistentVolume() {
        return persistentVolumes.volumes();
    }

    /// Returns the rights that the driver lacks, in words; empty if it has all. For an administrator: it takes some
    /// 50 requests.
    public List<String> missingRights() {
        return new Rights(api).missing();
    }

    @Override
    public void close() {
        api.close();
    }
}
