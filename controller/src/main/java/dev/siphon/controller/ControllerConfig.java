package dev.siphon.controller;

import dev.siphon.controller.ceph.ClustersFile;
import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.csi.server.ServerConfig;
import java.nio.file.Path;
import java.util.Optional;

/// How the controller is set up; [ControllerOptions] makes one from flags. Holds no secret: the clusters
/// file names the files that keys are in.
///
/// @param server the shell of the process
/// @param clusters the clusters to serve
/// @param limits how long calls to Ceph may take, and how many run at once per cluster
/// @param directory where accounts are looked up
/// @param defaultOwner the account for classes that name none
/// @param keyFolder where the keys of volumes go; empty if the driver mints none
/// @param keyType of these keys; empty for the cluster's default
/// @param attach whether volumes are attached to nodes before they are used there
public record ControllerConfig(
        ServerConfig server,
        ClustersFile clusters,
        CallLimits limits,
        DirectoryChoice directory,
        Optional<String> defaultOwner,
        boolean attach,
        Optional<Path> keyFolder,
        Optional<String> keyType) {}
