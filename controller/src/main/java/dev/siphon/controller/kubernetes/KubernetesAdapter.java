package dev.siphon.controller.kubernetes;

import dev.siphon.controller.dataset.DatasetCatalog;
import dev.siphon.controller.dataset.DatasetUsageCluster;
import dev.siphon.controller.dataset.DatasetVolumes;
import dev.siphon.controller.grant.GrantsStore;
import dev.siphon.controller.grant.NamespaceAccessStore;
import dev.siphon.controller.identity.Namespaces;
import dev.siphon.controller.key.DatasetKeyStore;
import dev.siphon.controller.key.KeyStore;
import dev.siphon.controller.monitor.MonitorSource;
import dev.siphon.controller.monitor.MonitorStore;
import dev.siphon.controller.recovery.ClusterRecords;
import dev.siphon.controller.seal.SealingCluster;
import dev.siphon.controller.warm.WarmupCluster;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/// All ports that Kubernetes serves, over one client.
public final class KubernetesAdapter implements AutoCloseable {
    private final KubernetesApi api;
    private final String driver;
    private final PersistentVolumes persistentVolumes;
    private final RunningPods running;
    private final ReplicaObjects replicas;
    private final DatasetAccesses accesses;
    private final KubernetesDatasetCatalog datasets;
    private final KeyStore keys;

    /// Empty until it was read.
    private volatile String clusterUid = "";

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

    /// Asks nothing yet.
    ///
    /// @param driver the CSI driver's name, which PersistentVolumes have
    /// @param timeLeft what is left of the caller's deadline
    public static KubernetesAdapter open(KubernetesAccess access, String driver, Supplier<Duration> timeLeft) {
        return new KubernetesAdapter(new KubernetesApi(access, timeLeft), driver);
    }

    /// The same on a machine with another clock.
    static KubernetesAdapter open(
            KubernetesAccess access, String driver, Supplier<Duration> timeLeft, InstantSource clock) {
        return new KubernetesAdapter(new KubernetesApi(access, timeLeft, clock), driver);
    }

    /// Keeps what is read of volumes, pods and datasets current by watches until it is closed; before that, each
    /// reading lists.
    public AutoCloseable follow(BackgroundTasks tasks) {
        List<BackgroundTasks.Task> watches = List.of(
                persistentVolumes.follow(tasks, () -> {}),
                running.follow(tasks, () -> {}),
                replicas.follow(tasks, () -> {}),
                accesses.follow(tasks),
                datasets.follow(tasks));
        return () -> watches.forEach(BackgroundTasks.Task::close);
    }

    /// Where the keys of volumes are.
    public KeyStore keys() {
        return keys;
    }

    /// Where grants are published.
    public GrantsStore grants() {
        return new KubernetesGrantsStore(api, driver);
    }

    /// Where people see what namespaces may use.
    public NamespaceAccessStore namespaceAccess() {
        return new KubernetesNamespaceAccessStore(api, driver);
    }

    /// The monitors of Rook's cluster in a namespace.
    public MonitorSource rookMonitors(String rookNamespace) {
        return new RookMonitors(api, rookNamespace);
    }

    /// Where nodes read the monitors of all clusters.
    public MonitorStore monitors() {
        return new KubernetesMonitorStore(api);
    }

    /// The API server's clock, by which objects were made.
    public InstantSource clock() {
        return api.clock();
    }

    /// The driver's own namespace.
    public String namespace() {
        return api.namespace();
    }

    /// What tells this Kubernetes cluster from others: the uid of its namespace `kube-system`, which nobody can
    /// delete.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if there is no answer
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

    /// Where the volumes that show datasets are, and keys of theirs.
    ///
    /// @param always whether they have keys though all nodes ask for their own
    public DatasetKeyStore datasetKeys(boolean always) {
        return new KubernetesDatasetKeyStore(api, accesses, always);
    }

    /// The datasets that are declared as objects.
    public DatasetCatalog datasets() {
        return datasets;
    }

    /// Pods that use datasets, and where it is written down how many.
    public DatasetUsageCluster usingPods() {
        return new KubernetesDatasetUsage(api, datasets, persistentVolumes, running, replicas, accesses);
    }

    /// Answers nodes whose pods have datasets, until it is closed.
    ///
    /// @param datasets decides
    /// @param names what the dataset of a claim's volume may be called
    public AutoCloseable answerNodes(
            DatasetVolumes datasets, Function<VolumeId.DatasetVolume, List<String>> names, BackgroundTasks tasks) {
        DatasetRequests.DatasetOpener opener = (dataset, pod) -> VolumeId.DatasetVolume.tryParse(dataset)
                .map(claimed -> datasets.openClaimed(claimed, names.apply(claimed), pod))
                .orElseGet(() -> datasets.open(dataset, pod));
        return new DatasetRequests(api, driver, accesses, opener).start(tasks);
    }

    /// Pods that wait until datasets are on disks of nodes, and what nodes were told.
    public WarmupCluster warming() {
        return new KubernetesWarmupCluster(api, driver, running, replicas, persistentVolumes);
    }

    /// Where packers run, and datasets are declared that they make.
    public SealingCluster sealing() {
        return new KubernetesSealing(api, driver, datasets);
    }

    /// What there is of volumes and snapshots, to be kept elsewhere as well.
    public ClusterRecords records() {
        return new KubernetesRecords(api, driver);
    }

    /// What is written at namespaces and PVCs.
    public Namespaces namespaces() {
        return new KubernetesNamespaces(api);
    }

    /// The volumes that have a PersistentVolume now, by a listing of all.
    public Set<VolumeId.Provisioned> volumesWithPersistentVolume() {
        return persistentVolumes.volumes();
    }

    /// What the driver has to be allowed and is not, in words; empty if it may all. A question for an
    /// administrator: some ten requests.
    public List<String> missingRights() {
        return new Rights(api).missing();
    }

    @Override
    public void close() {
        api.close();
    }
}
