package dev.siphon.controller;

import dev.siphon.controller.volume.OwnerRule;
import dev.siphon.controller.warm.GateSettings;
import dev.siphon.csi.server.ServerConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/// How the controller is set up; [ControllerOptions] makes one from flags.
///
/// @param server the shell of the process
/// @param backend the clusters, directory and keys
/// @param defaultOwner the account for classes that name none
/// @param reconcileEvery how often the quotas of accounts are compared with the directory
/// @param attach whether volumes are attached to nodes before they are used there
/// @param leadAs what this controller is called among those of which one leads; empty if it is the only one
/// @param grantsFile where to publish which namespaces may use whose volumes; empty if in Kubernetes, or no
///     node asks
/// @param datasetsFile where datasets are declared; empty if in Kubernetes, or there are none
/// @param namespaceOwner the account for which a namespace stands, for readers of datasets
/// @param gates how long pods wait for datasets on disks of nodes
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
        GateSettings gates) {}
