package dev.siphon.controller;

import dev.siphon.controller.dataset.DatasetCatalog;
import dev.siphon.controller.dataset.DatasetGrantsPublisher;
import dev.siphon.controller.dataset.DatasetIdentities;
import dev.siphon.controller.dataset.DatasetReaders;
import dev.siphon.controller.dataset.DatasetRevocation;
import dev.siphon.controller.dataset.DatasetUsageReporter;
import dev.siphon.controller.dataset.DatasetVolumes;
import dev.siphon.controller.dataset.DatasetsFile;
import dev.siphon.controller.dataset.FrozenAccounts;
import dev.siphon.controller.dataset.IdleDatasetKeys;
import dev.siphon.controller.dataset.ReaderNames;
import dev.siphon.controller.dataset.ReaderRevocation;
import dev.siphon.controller.dataset.SecretKeysForOldNodes;
import dev.siphon.controller.grant.GrantCapacityWarnings;
import dev.siphon.controller.grant.NamespaceAccessWriter;
import dev.siphon.controller.grant.NamespaceGrants;
import dev.siphon.controller.imports.ImportReconciler;
import dev.siphon.controller.key.SessionEviction;
import dev.siphon.controller.kubernetes.KubernetesAdapter;
import dev.siphon.controller.seal.SealedSnapshots;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.NamespaceAccounts;
import dev.siphon.controller.warm.GateMetrics;
import dev.siphon.controller.warm.ReplicaProgress;
import dev.siphon.controller.warm.WarmupController;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica;
import dev.siphon.csi.server.DriverProcess;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// Assembles the controller's services for declared datasets.
///
/// @param volumes that show datasets
/// @param frozen the accounts that may not read for now
/// @param withdrawn revokes keys at nodes whose readers were withdrawn; empty without Kubernetes
/// @param grants publishes grants for nodes; empty if nobody reads them
/// @param access shows people what namespaces may use; empty without Kubernetes
/// @param warnings warns when the space for grants runs out; empty without Kubernetes
/// @param users records at each dataset which pods use it; empty without Kubernetes
/// @param idle removes keys that nodes no longer use; empty without Kubernetes
/// @param claims mints keys for claims' volumes while nodes need them; empty without Kubernetes
/// @param kubernetes answers nodes that ask for datasets that their pods name or claim; empty without it
/// @param warming fills replicas for waiting pods; empty without Kubernetes
/// @param imports fetches data that becomes datasets; empty without Kubernetes
/// @param sealing the ports that make datasets of snapshots; empty without Kubernetes
record DatasetServices(
        DatasetVolumes volumes,
        FrozenAccounts frozen,
        Optional<ReaderRevocation> withdrawn,
        Optional<DatasetGrantsPublisher> grants,
        Optional<NamespaceAccessWriter> access,
        Optional<GrantCapacityWarnings> warnings,
        Optional<DatasetUsageReporter> users,
        Optional<IdleDatasetKeys> idle,
        Optional<SecretKeysForOldNodes> claims,
        Optional<KubernetesAdapter> kubernetes,
        Optional<WarmupController> warming,
        Optional<ImportReconciler> imports,
        Optional<SealedSnapshots.Ports> sealing) {
    /// How often frozen accounts and grants are checked. A check costs two requests to the API server, or reading a
    /// file, if nothing has changed.
    private static final Duration LOOK = Duration.ofSeconds(15);

    /// How long one call waits for the check of an image; enough for most small images.
    private static final Duration READ_BACK = Duration.ofSeconds(20);

    /// Returns the services; empty if datasets cannot be declared anywhere.
    static Optional<DatasetServices> of(
            ControllerConfig config,
            Backend backend,
            CephPorts ports,
            Optional<NamespaceGrants> published,
            PrometheusRegistry metrics) {
        return backend.kubernetes()
                .map(KubernetesAdapter::datasets)
                .or(() -> config.datasetsFile().map(DatasetsFile::new))
                .map(datasets -> of(datasets, config, backend, ports, published, metrics));
    }

    private static DatasetServices of(
            DatasetCatalog datasets,
            ControllerConfig config,
            Backend backend,
            CephPorts ports,
            Optional<NamespaceGrants> published,
            PrometheusRegistry metrics) {
        var namespaces = backend.kubernetes().map(KubernetesAdapter::namespaces);
        NamespaceAccounts accounts = new NamespaceAccounts(config.namespaceOwner(), namespaces);
        FrozenAccounts frozen = new FrozenAccounts(ports.clusters(), ports.files());
        DatasetReaders readers = new DatasetReaders(
                accounts, backend.directory(), frozen, new ReaderNames(datasets, backend.directory()));
        DatasetIdentities identities =
                new DatasetIdentities(ports.files(), backend.ceph().identities(), backend::owner);
        Optional<DatasetVolumes.Keys> keys =
                backend.datasetKeys().map(store -> new DatasetVolumes.Keys(identities, store));
        DatasetVolumes volumes = new DatasetVolumes(ports.clusters(), datasets, namespaces, readers, keys, published);
        Optional<DatasetGrantsPublisher> keeping = published.map(
                grants -> new DatasetGrantsPublisher(ports.clusters(), datasets, accounts, readers, grants, keys));
        ReplicaProgress progress = new ReplicaProgress();
        GateMetrics gates = new GateMetrics(metrics);
        Optional<NamespaceAccessWriter> access = backend.kubernetes()
                .flatMap(kubernetes -> keeping.flatMap(kept -> published.map(grants -> new NamespaceAccessWriter(
                        grants::whole,
                        kept::details,
                        progress::byNamespace,
                        kubernetes.namespaceAccess(),
                        kubernetes.namespace(),
                        metrics))));
        return new DatasetServices(
                volumes,
                frozen,
                keys.flatMap(minting -> published.flatMap(grants -> withdrawn(backend, readers, grants, minting))),
                keeping,
                access,
                backend.kubernetes()
                        .flatMap(kubernetes ->
                                access.flatMap(writer -> published.map(grants -> new GrantCapacityWarnings(
                                        grants::warnings,
                                        kubernetes.grants(),
                                        writer::nearlyFull,
                                        kubernetes.namespaceAccess())))),
                backend.kubernetes()
                        .map(kubernetes ->
                                new DatasetUsageReporter(kubernetes.usingPods(), ports.clusters(), progress::used)),
                backend.kubernetes()
                        .filter(_ -> keys.isPresent())
                        .map(kubernetes -> new IdleDatasetKeys(kubernetes.usingPods(), ports.clusters(), identities)),
                backend.kubernetes().flatMap(_ -> keys.map(SecretKeysForOldNodes::new)),
                backend.kubernetes(),
                backend.kubernetes()
                        .flatMap(kubernetes -> published.map(grants -> new WarmupController(
                                config.kueue() ? kubernetes.warmingWithKueue() : kubernetes.warming(),
                                config.gates(),
                                grants::published,
                                (question, order) -> answer(volumes, question, order),
                                gates,
                                progress,
                                kubernetes.clock()))),
                backend.kubernetes()
                        .map(kubernetes -> new ImportReconciler(
                                kubernetes.imports(), accounts, backend.directory(), ports.files())),
                backend.kubernetes()
                        .flatMap(kubernetes -> keys.map(minting -> new SealedSnapshots.Ports(
                                ports,
                                datasets,
                                minting,
                                backend.ceph().identities(),
                                backend.ceph().clientSessions(),
                                kubernetes.sealing(),
                                READ_BACK))));
    }

    private static Optional<ReaderRevocation> withdrawn(
            Backend backend, DatasetReaders readers, NamespaceGrants published, DatasetVolumes.Keys keys) {
        DatasetRevocation revocation = new DatasetRevocation(
                backend.ceph().identities(), backend.ceph().clientSessions(), keys, SessionEviction.PATIENCE);
        return backend.kubernetes()
                .map(kubernetes -> new ReaderRevocation(
                        readers,
                        published::published,
                        kubernetes.usingPods(),
                        backend.ceph().ports().clusters(),
                        revocation));
    }

    /// Returns the reply to a node that stores a replica: the key, encrypted for its request.
    private static DatasetAccess.Answer answer(
            DatasetVolumes volumes, DatasetReplica.Question question, DatasetReplica.Order order) {
        try {
            DatasetVolumes.Opened opened = volumes.openForNode(order.dataset(), order.node());
            return DatasetAccess.Given.encrypt(
                    question.request(),
                    question.publicKey(),
                    opened.volume(),
                    opened.context(),
                    opened.key().userId(),
                    opened.key().secret());
        } catch (DriverException refused) {
            return new DatasetAccess.Refused(question.request(), refused);
        }
    }

    private List<String> names(VolumeId.DatasetVolume volume) {
        return grants.map(known -> known.names(volume)).orElse(List.of());
    }

    /// Starts all services; they run until the process ends.
    void start(DriverProcess process, BackgroundTasks tasks) {
        // a freeze is published as soon as it is seen, so nodes learn of it within LOOK and the minute for which they
        // keep grants
        process.closeAtEnd(
                "frozen accounts",
                frozen.start(LOOK, tasks, () -> grants.ifPresent(keeping -> keeping.reconcileSoon(tasks))));
        withdrawn.ifPresent(taking -> process.closeAtEnd("withdrawn readers", taking.start(tasks)));
        grants.ifPresent(keeping -> process.closeAtEnd("dataset grants", keeping.start(LOOK, tasks)));
        access.ifPresent(writing -> process.closeAtEnd("namespace access", writing.start(tasks)));
        warnings.ifPresent(telling -> process.closeAtEnd("room warnings", telling.start(tasks)));
        users.ifPresent(looking -> process.closeAtEnd("dataset users", looking.start(tasks)));
        idle.ifPresent(looking -> process.closeAtEnd("idle dataset keys", looking.start(tasks)));
        claims.ifPresent(looking -> process.closeAtEnd("claim keys", looking.start(tasks)));
        kubernetes.ifPresent(
                asked -> process.closeAtEnd("dataset requests", asked.answerNodes(volumes, this::names, tasks)));
        warming.ifPresent(looking -> process.closeAtEnd("dataset warming", looking.start(tasks)));
        imports.ifPresent(fetching -> process.closeAtEnd("dataset imports", fetching.start(tasks)));
    }
}
