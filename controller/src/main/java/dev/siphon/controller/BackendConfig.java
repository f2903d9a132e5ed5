package dev.siphon.controller;

import dev.siphon.controller.ceph.ClustersFile;
import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.kubernetes.KubernetesAccess;
import java.nio.file.Path;
import java.util.Optional;

/// Which clusters, directory and keys there are; [BackendOptions] makes one from flags. Holds no secret: the
/// clusters file names the files that keys are in.
///
/// @param clusters the clusters to serve
/// @param limits how long calls to Ceph may take, and how many run at once per cluster
/// @param directory where accounts are looked up
/// @param keyFolder where the keys of volumes go; empty if they go into Kubernetes, or the driver mints none
/// @param keyType of these keys; empty for the cluster's default
/// @param datasetKeysInSecrets whether claims of datasets have keys in Secrets though all nodes ask for their own
/// @param kubernetes which Kubernetes the driver belongs to; empty without it
public record BackendConfig(
        ClustersFile clusters,
        CallLimits limits,
        AccountDirectoryOption directory,
        Optional<Path> keyFolder,
        Optional<String> keyType,
        boolean datasetKeysInSecrets,
        Optional<KubernetesAccess> kubernetes) {}
