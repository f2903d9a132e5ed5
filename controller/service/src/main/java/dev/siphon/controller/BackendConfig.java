package dev.siphon.controller;

import dev.siphon.controller.ceph.ClustersFile;
import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.kubernetes.KubernetesAccess;
import java.nio.file.Path;
import java.util.Optional;

/// The configuration of clusters, directory, keys and Kubernetes, which [BackendOptions] reads from flags. Holds no
/// secret: the clusters file only names the key files.
///
/// @param clusters the clusters to serve
/// @param limits how long calls to Ceph may take, and how many run at once per cluster
/// @param directory the source of accounts
/// @param keyFolder the directory for keys of volumes; empty if they go into Kubernetes, or the driver mints none
/// @param keyType of these keys, or `auto`; empty for the cluster's default
/// @param datasetKeysInSecrets whether claims of datasets have keys in Secrets, although all nodes request their
///     own
/// @param kubernetes the Kubernetes that the driver belongs to; empty without it
public record BackendConfig(
        ClustersFile clusters,
        CallLimits limits,
        AccountDirectoryOption directory,
        Optional<Path> keyFolder,
        Optional<String> keyType,
        boolean datasetKeysInSecrets,
        Optional<KubernetesAccess> kubernetes) {}
