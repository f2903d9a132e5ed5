package dev.siphon.controller;

import dev.siphon.controller.allowance.QuotaReconciler;
import dev.siphon.controller.audit.TrashWatch;
import dev.siphon.controller.ceph.CephAdapter;
import dev.siphon.controller.ceph.fs.ClientIdentity;
import dev.siphon.controller.grant.AdoptedVolumes;
import dev.siphon.controller.grant.FileGrantsStore;
import dev.siphon.controller.grant.GrantsMetrics;
import dev.siphon.controller.grant.NamespaceGrants;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.key.VolumeKeys;
import dev.siphon.controller.kubernetes.KubernetesAdapter;
import dev.siphon.controller.kubernetes.Leadership;
import dev.siphon.controller.recovery.MetadataWriter;
import dev.siphon.controller.recovery.RecordWriter;
import dev.siphon.controller.rpc.ControllerService;
import dev.siphon.controller.rpc.GroupControllerService;
import dev.siphon.controller.seal.SealedSnapshots;
import dev.siphon.controller.volume.AccountAccess;
import dev.siphon.controller.volume.Callers;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.ClaimedDatasets;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.ControllerDomain;
import dev.siphon.controller.volume.KeyMinting;
import dev.siphon.controller.volume.NamespaceAccounts;
import dev.siphon.controller.volume.Owners;
import dev.siphon.controller.volume.SnapshotDatasets;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.server.BackgroundMetrics;
import dev.siphon.csi.server.DriverProcess;
import dev.siphon.csi.server.IdentityService;
import dev.siphon.csi.server.ImmediateExit;
import dev.siphon.csi.server.JsonLogging;
import dev.siphon.csi.server.OpsServer;
import dev.siphon.csi.server.Readiness;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/// `siphon controller`: creates, changes and deletes volumes and snapshots. Only one instance runs at a time: it
/// knows what exists because every change passes through it.
@Command(
        name = "controller",
        mixinStandardHelpOptions = true,
        description = "Makes, changes and removes volumes and snapshots (CSI controller services).")
public final class ControllerMain implements Callable<Integer> {
    /// The deadline of one check of a cluster. Shorter than the readiness check's own deadline, so that the
    /// cluster's error is reported.
    private static final Duration LOOK = Duration.ofSeconds(4);

    @Spec
    private CommandSpec command = CommandSpec.create();

    @Mixin
    private ControllerOptions options = new ControllerOptions();

    /// Serves until SIGTERM.
    @Override
    public Integer call() throws InterruptedException {
        ControllerConfig config = options.read(command);
        JsonLogging.start(options.logLevel());
        Optional<Leadership> leadership = Optional.empty();
        if (config.leadAs().isPresent()) {
            leadership = Optional.of(lead(config, config.leadAs().get()));
        }
        DriverProcess process = start(config, UnaryOperator.identity(), leadership);
        return process.await(config);
    }

    /// Waits until this controller leads. Meanwhile it is live, and ready as a standby. The socket appears only
    /// afterwards, and the sidecars wait for it: they need no election of their own, and all act through the
    /// leader.
    private static Leadership lead(ControllerConfig config, String name) throws InterruptedException {
        Leadership leadership = Leadership.seek(
                config.backend().kubernetes().orElseThrow(),
                name,
                // running operations end with the process, and no new ones begin
                () -> ImmediateExit.with(1));
        Readiness.Check standingBy = new Readiness.Check() {
            @Override
            public Optional<String> problem() {
                return Optional.empty();
            }

            @Override
            public Optional<String> remark() {
                return Optional.of("standing by: " + leadership.leader());
            }
        };
        PrometheusRegistry metrics = new PrometheusRegistry();
        registerLeader(metrics, false);
        try (Readiness readiness = Readiness.start(standingBy, LOOK, LOOK);
                OpsServer _ = OpsServer.start(config.server().ops(), readiness, metrics)) {
            leadership.await();
        }
        return leadership;
    }

    private static void registerLeader(PrometheusRegistry metrics, boolean leads) {
        Gauge.builder()
                .name("siphon_leader")
                .help("1 if the controller leads, or is the only one; 0 if it stands by.")
                .register(metrics)
                .set(leads ? 1 : 0);
    }

    /// Starts to serve; connects to Ceph afterwards.
    ///
    /// @param decorate wraps the ports to Ceph: nothing, or what a test observes or breaks
    public static DriverProcess start(ControllerConfig config, UnaryOperator<CephPorts> decorate) {
        return start(config, decorate, Optional.empty());
    }

    private static DriverProcess start(
            ControllerConfig config, UnaryOperator<CephPorts> decorate, Optional<Leadership> leadership) {
        PrometheusRegistry metrics = new PrometheusRegistry();
        registerLeader(metrics, true);
        BackgroundTasks tasks = BackgroundMetrics.tasks(metrics);
        Supplier<Duration> timeLeft = config.server().deadlines()::remaining;
        Backend backend = Backend.open(
                config.backend(), config.server().driverName(), identity(config, leadership), timeLeft, metrics, tasks);
        CephAdapter ceph = backend.ceph();
        CephPorts ports = decorate.apply(ceph.ports());
        NamespaceAccounts accounts = new NamespaceAccounts(
                config.namespaceOwner(), backend.kubernetes().map(KubernetesAdapter::namespaces));
        Optional<NamespaceGrants> grants = backend.kubernetes()
                .map(KubernetesAdapter::grants)
                .or(() -> config.grantsFile().map(FileGrantsStore::new))
                .map(store -> new NamespaceGrants(ports, store, accounts, new GrantsMetrics(metrics)));
        Optional<AdoptedVolumes> adopted =
                grants.map(access -> new AdoptedVolumes(ports.files(), access, InstantSource.system()));
        Optional<VolumeKeys> keys = backend.keys()
                .map(store -> new VolumeKeys(
                        ports,
                        ceph.identities(),
                        store,
                        timeLeft,
                        (volume, namespace) -> adopted.ifPresent(all -> all.adopt(volume, namespace))));
        Optional<RecordWriter> records = backend.kubernetes()
                .map(kubernetes -> new RecordWriter(
                        kubernetes.records(),
                        kubernetes.datasets(),
                        ports,
                        new MetadataWriter(ports, InstantSource.system()),
                        InstantSource.system()));
        KeyMinting minting = keys.<KeyMinting>map(all -> all).orElse(KeyMinting.NONE);
        ControllerDomain domain = ControllerDomain.over(
                ports,
                new Owners(
                        backend.directory(),
                        backend.kubernetes().map(KubernetesAdapter::namespaces),
                        config.defaultOwner()),
                new Callers(
                        records.map(writer -> writer.after(minting)).orElse(minting),
                        grants.<AccountAccess>map(access -> access).orElse(AccountAccess.NONE)),
                timeLeft);
        Optional<DatasetServices> datasets = DatasetServices.of(config, backend, ports, grants, metrics);
        Optional<SealedSnapshots> sealed =
                datasets.flatMap(DatasetServices::sealing).map(sealing -> new SealedSnapshots(sealing, domain));
        // a clean exit removes the socket; an earlier leader elsewhere may have been killed
        boolean afterKill = leadership.isPresent()
                || Files.exists(config.server().endpoint().path(), LinkOption.NOFOLLOW_LINKS);
        DriverProcess process = DriverProcess.start(
                config.server(),
                new DriverProcess.Parts(
                        List.of(IdentityService.Offer.values()),
                        List.of(
                                new ControllerService(
                                        domain.showing(
                                                datasets.<ClaimedDatasets>map(DatasetServices::volumes)
                                                        .orElse(ClaimedDatasets.NONE),
                                                sealed.<SnapshotDatasets>map(all -> all)
                                                        .orElse(SnapshotDatasets.NONE)),
                                        config.attach(),
                                        sealed),
                                new GroupControllerService(domain)),
                        check(ceph.ports().clusters(), backend.directory()),
                        metrics));
        // released last: then another controller starts
        leadership.ifPresent(held -> process.closeAtEnd("leadership", held));
        process.closeAtEnd("backend", backend);
        backend.kubernetes()
                .ifPresent(kubernetes ->
                        process.closeAtEnd("watches of Kubernetes", kubernetes.follow(tasks, accounts.keys())));
        process.closeAtEnd("monitors", backend.monitors().start(tasks));
        process.closeAtEnd("key types", ceph.keyTypes().start(tasks, ports.clusters()::ids));
        keys.ifPresent(all -> process.closeAtEnd("keys", all.start(tasks)));
        adopted.ifPresent(granting -> process.closeAtEnd("adopted volumes", granting.start(tasks)));
        records.ifPresent(writing -> process.closeAtEnd("records", writing.start(tasks)));
        grants.ifPresent(published -> process.closeAtEnd("grants", published.start(tasks)));
        datasets.ifPresent(declared -> declared.start(process, tasks));
        sealed.ifPresent(snapshots -> process.closeAtEnd(
                "earlier images", snapshots.earlierImages(metrics).start(tasks)));
        process.closeAtEnd(
                "reconciler",
                new QuotaReconciler(ports, backend.directory(), domain.volumes().ledger(), metrics)
                        .start(config.reconcileEvery(), tasks));
        process.closeAtEnd("trash", new TrashWatch(ports.clusters(), ceph.trash(), metrics).start(tasks));
        if (afterKill) {
            ceph.takeOver();
        }
        return process;
    }

    private static ClientIdentity identity(ControllerConfig config, Optional<Leadership> leadership) {
        String driver = config.server().driverName().toString();
        return leadership
                .map(held -> ClientIdentity.ofLease(driver, held.lease()))
                .orElseGet(() ->
                        ClientIdentity.of(driver, config.server().endpoint().path()));
    }

    /// The controller is ready while the default cluster answers. Failures of other clusters show at their volumes
    /// and in the metrics. Without the directory everything works but creating volumes.
    private static Readiness.Check check(Clusters clusters, AccountDirectory directory) {
        return new Readiness.Check() {
            @Override
            public Optional<String> problem() {
                return clusters.trouble(clusters.defaultCluster(), LOOK);
            }

            @Override
            public Optional<String> remark() {
                return directory.remark();
            }
        };
    }
}
