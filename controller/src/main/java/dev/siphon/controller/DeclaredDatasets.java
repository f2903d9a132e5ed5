package dev.siphon.controller;

import dev.siphon.controller.dataset.DatasetGrants;
import dev.siphon.controller.dataset.DatasetIdentities;
import dev.siphon.controller.dataset.DatasetVolumes;
import dev.siphon.controller.dataset.Datasets;
import dev.siphon.controller.dataset.DatasetsFile;
import dev.siphon.controller.grant.NamespaceGrants;
import dev.siphon.controller.kubernetes.KubernetesAdapter;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.NamespaceAccounts;
import dev.siphon.csi.server.DriverProcess;
import java.time.Duration;
import java.util.Optional;

/// What the controller does with the datasets that administrators declare, put together.
///
/// @param volumes that show them
/// @param grants tells nodes of them; empty where nobody asks
/// @param kubernetes has pods that name datasets themselves; empty without it
record DeclaredDatasets(
        DatasetVolumes volumes, Optional<DatasetGrants> grants, Optional<KubernetesAdapter> kubernetes) {
    /// Two requests to the API server, or a look at a file, where nothing has changed.
    private static final Duration LOOK = Duration.ofSeconds(15);

    /// Empty if none are declared anywhere.
    static Optional<DeclaredDatasets> of(
            ControllerConfig config, Backend backend, CephPorts ports, Optional<NamespaceGrants> published) {
        return backend.kubernetes()
                .map(KubernetesAdapter::datasets)
                .or(() -> config.datasetsFile().map(DatasetsFile::new))
                .map(datasets -> of(datasets, config, backend, ports, published));
    }

    private static DeclaredDatasets of(
            Datasets datasets,
            ControllerConfig config,
            Backend backend,
            CephPorts ports,
            Optional<NamespaceGrants> published) {
        var namespaces = backend.kubernetes().map(KubernetesAdapter::namespaces);
        NamespaceAccounts accounts = new NamespaceAccounts(config.namespaceOwner(), namespaces);
        DatasetIdentities identities =
                new DatasetIdentities(ports.files(), backend.ceph().identities());
        Optional<DatasetVolumes.Keys> keys =
                backend.datasetKeys().map(store -> new DatasetVolumes.Keys(identities, store));
        DatasetVolumes volumes =
                new DatasetVolumes(ports.clusters(), datasets, namespaces, accounts, backend.directory(), keys);
        return new DeclaredDatasets(
                volumes,
                published.map(grants ->
                        new DatasetGrants(ports.clusters(), datasets, accounts, backend.directory(), grants, keys)),
                backend.kubernetes());
    }

    /// Goes on until the process ends.
    void start(DriverProcess process) {
        grants.ifPresent(keeping -> process.closeAtEnd("dataset grants", keeping.start(LOOK)));
        kubernetes.ifPresent(asked -> process.closeAtEnd("dataset requests", asked.answerNodes(volumes)));
    }
}
