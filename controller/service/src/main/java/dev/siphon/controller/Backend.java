package dev.siphon.controller;

import dev.siphon.controller.ceph.CephAdapter;
import dev.siphon.controller.ceph.ClustersFile;
import dev.siphon.controller.ceph.fs.ClientIdentity;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.identity.FileAccountDirectory;
import dev.siphon.controller.key.DatasetKeyStore;
import dev.siphon.controller.key.FileKeyStore;
import dev.siphon.controller.key.KeyStore;
import dev.siphon.controller.key.KeyTypes;
import dev.siphon.controller.kubernetes.KubernetesAdapter;
import dev.siphon.controller.ldap.LdapAdapter;
import dev.siphon.controller.monitor.MonitorFollower;
import dev.siphon.controller.monitor.MonitorSource;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.server.DriverName;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/// The connections to clusters, directory, keys and Kubernetes.
///
/// @param ceph the ports to all clusters
/// @param directory the accounts
/// @param keys the store for keys of volumes; empty if the driver mints none
/// @param datasetKeys the store for keys of volumes that show datasets; empty likewise
/// @param kubernetes the ports that Kubernetes serves; empty without it
/// @param monitors follows monitors that Rook moves
public record Backend(
        CephAdapter ceph,
        AccountDirectory directory,
        Optional<KeyStore> keys,
        Optional<DatasetKeyStore> datasetKeys,
        Optional<KubernetesAdapter> kubernetes,
        MonitorFollower monitors)
        implements AutoCloseable {
    /// How often to check whether LDAP answers.
    private static final Duration LOOK_AT_LDAP = Duration.ofSeconds(10);

    /// Starts to connect, without waiting for it. Only for a cluster of Rook it first reads the monitors from
    /// Kubernetes, for some seconds at most.
    ///
    /// @param driver the CSI driver's name
    /// @param identity of this process at the MDS daemons
    /// @param timeLeft the rest of the caller's deadline
    public static Backend open(
            BackendConfig config,
            DriverName driver,
            ClientIdentity identity,
            Supplier<Duration> timeLeft,
            PrometheusRegistry metrics,
            BackgroundTasks tasks) {
        Optional<KubernetesAdapter> kubernetes =
                config.kubernetes().map(access -> KubernetesAdapter.open(access, driver.value(), timeLeft));
        Map<String, MonitorSource> sources = sources(config.clusters(), kubernetes);
        CephAdapter ceph = CephAdapter.open(
                config.clusters().at(MonitorFollower.readMonitors(sources)),
                identity,
                config.limits(),
                keyType(config.keyType(), kubernetes),
                timeLeft,
                metrics,
                tasks);
        return new Backend(
                ceph,
                directory(config.directory(), timeLeft, metrics, tasks),
                config.keyFolder().<KeyStore>map(FileKeyStore::new).or(() -> kubernetes.map(KubernetesAdapter::keys)),
                config.keyFolder()
                        .<DatasetKeyStore>map(FileKeyStore::new)
                        .or(() -> kubernetes.map(adapter -> adapter.datasetKeys(config.datasetKeysInSecrets()))),
                kubernetes,
                new MonitorFollower(sources, ceph.monitors(), kubernetes.map(KubernetesAdapter::monitors)));
    }

    private static KeyTypes.Rule keyType(Optional<String> wanted, Optional<KubernetesAdapter> kubernetes) {
        return wanted.equals(Optional.of("auto"))
                ? kubernetes
                        .<KeyTypes.Rule>map(adapter -> new KeyTypes.Rule.ByKernels(adapter.kernels()))
                        .orElseGet(KeyTypes.Rule.OfCluster::new)
                : wanted.<KeyTypes.Rule>map(KeyTypes.Rule.Fixed::new).orElseGet(KeyTypes.Rule.OfCluster::new);
    }

    private static Map<String, MonitorSource> sources(ClustersFile clusters, Optional<KubernetesAdapter> kubernetes) {
        Map<String, MonitorSource> sources = new TreeMap<>();
        kubernetes.ifPresent(adapter ->
                clusters.rook().forEach((cluster, namespace) -> sources.put(cluster, adapter.rookMonitors(namespace))));
        return sources;
    }

    /// Returns the owner of this driver's dataset identities, derived from the Kubernetes cluster's uid; empty
    /// without Kubernetes.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if Kubernetes does not answer
    public Optional<String> owner() {
        return kubernetes.map(KubernetesAdapter::clusterUid).map(CephNames::owner);
    }

    private static AccountDirectory directory(
            AccountDirectoryOption choice,
            Supplier<Duration> timeLeft,
            PrometheusRegistry metrics,
            BackgroundTasks tasks) {
        return switch (choice) {
            case AccountDirectoryOption.InFiles files -> new FileAccountDirectory(files.passwd(), files.group());
            case AccountDirectoryOption.InLdap ldap ->
                LdapAdapter.open(ldap.config(), LOOK_AT_LDAP, timeLeft, metrics, tasks);
        };
    }

    /// Refuses further calls; waits some seconds at most.
    @Override
    public void close() {
        if (directory instanceof LdapAdapter connected) {
            connected.close();
        }
        ceph.close();
        kubernetes.ifPresent(KubernetesAdapter::close);
    }
}
