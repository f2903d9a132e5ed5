package dev.siphon.controller;

import dev.siphon.controller.volume.Owners.OwnerRule;
import dev.siphon.controller.warm.GateSettings;
import dev.siphon.csi.server.ServerConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/// The controller's configuration, which [ControllerOptions] reads from flags.
///
/// @param server the configuration of the process
/// @param backend the clusters, directory and keys
/// @param defaultOwner the account for classes that name none
/// @param reconcileEvery how often the quotas of accounts are reconciled with the directory
/// @param attach whether volumes are attached to nodes before use
/// @param leadAs this controller's name in the election; empty if it is the only controller
/// @param grantsFile where to publish which namespaces may use whose volumes; empty if in Kubernetes, or no node
///     reads it
/// @param datasetsFile where datasets are declared; empty if in Kubernetes, or there are none
/// @param namespaceOwner maps a namespace to its account, for readers of datasets
/// @param gates how long pods wait for datasets on disks of nodes
/// @param kueue whether to answer admission checks of Kueue
public record ControllerConfig(
        ServerConfig server,
        BackendConfig backend,
        Optional<String> defaultOwner,
        Duration reconcileEvery,
        boolean attach,
        Optional<String> leadAs,
        Optional<Path> grantsFile,
        Optional<Path> datasetsFile,
        Optional<OwnerRule> namespaceOwner,
        GateSettings gates,
        boolean kueue) {}
