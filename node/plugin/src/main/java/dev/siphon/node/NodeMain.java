package dev.siphon.node;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.server.BackgroundMetrics;
import dev.siphon.csi.server.DriverProcess;
import dev.siphon.csi.server.HttpServer;
import dev.siphon.csi.server.IdentityService;
import dev.siphon.csi.server.JsonLogging;
import dev.siphon.csi.server.MetricsPage;
import dev.siphon.csi.server.StartFailure;
import dev.siphon.node.ceph.MounterSelection;
import dev.siphon.node.device.DatasetPlacement;
import dev.siphon.node.device.DeviceClaims;
import dev.siphon.node.device.GpuAffinityRebalancer;
import dev.siphon.node.device.Machine;
import dev.siphon.node.device.NearestCaches;
import dev.siphon.node.device.RunningPodCaches;
import dev.siphon.node.device.rpc.KubeletPodDevices;
import dev.siphon.node.fuse.FuseProcesses;
import dev.siphon.node.inline.Inline;
import dev.siphon.node.inline.InlineDatasets;
import dev.siphon.node.inline.InlineVolumes;
import dev.siphon.node.inline.OfflineDatasets;
import dev.siphon.node.kubernetes.CacheEvents;
import dev.siphon.node.kubernetes.DatasetAccessApi;
import dev.siphon.node.kubernetes.DatasetReplicaApi;
import dev.siphon.node.kubernetes.EventsApi;
import dev.siphon.node.kubernetes.MetricsReaders;
import dev.siphon.node.kubernetes.MonitorsConfigMap;
import dev.siphon.node.kubernetes.ResourceClaimsApi;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.mount.CurrentMonitors;
import dev.siphon.node.mount.NodeVolumes;
import dev.siphon.node.mount.OpenedDatasets;
import dev.siphon.node.pod.PodEvents;
import dev.siphon.node.pod.PodHealth;
import dev.siphon.node.pod.PublishedPods;
import dev.siphon.node.registration.Registration;
import dev.siphon.node.replica.DatasetTrees;
import dev.siphon.node.replica.ErofsSelection;
import dev.siphon.node.replica.FillTurns;
import dev.siphon.node.replica.ReplicaMetrics;
import dev.siphon.node.replica.ReplicaPlacement;
import dev.siphon.node.replica.ReplicaSettings;
import dev.siphon.node.replica.Replicas;
import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import dev.siphon.node.rpc.CacheService;
import dev.siphon.node.rpc.DatasetPages;
import dev.siphon.node.rpc.NodeService;
import dev.siphon.node.rpc.RegistrationService;
import dev.siphon.node.warm.ReplicaOrderRunner;
import dev.siphon.node.warm.ReplicaOrders;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/// `siphon node`: the part of the driver that runs on every node and mounts volumes. It has no Ceph credentials of
/// its own: NodeStageVolume brings them, and the node forgets them after the mount.
@Command(
        name = "node",
        mixinStandardHelpOptions = true,
        description = "Mounts volumes on this node (CSI node service).")
public final class NodeMain implements Callable<Integer> {
    @Spec
    private CommandSpec command = CommandSpec.create();

    @Mixin
    private NodeOptions options = new NodeOptions();

    /// Serves until SIGTERM.
    @Override
    public Integer call() throws InterruptedException {
        NodeConfig config = options.read(command);
        JsonLogging.start(options.logLevel());
        return start(config).await(config);
    }

    /// Starts the servers, and then registers with the kubelet if configured.
    ///
    /// @throws StartFailure if a socket or the address is not available; then no server keeps running
    static DriverProcess start(NodeConfig config) {
        StateDirectory state = StateDirectory.take(config.stateDirectory());
        BlockingCalls calls = new BlockingCalls();
        PrometheusRegistry metrics = new PrometheusRegistry();
        BackgroundTasks tasks = BackgroundMetrics.tasks(metrics);
        FuseProcesses fuse = config.fuse().processes();
        Path trees = state.path().resolve("datasets");
        FillTurns turns = new FillTurns(
                config.fillTurns() && config.grants() instanceof GrantsSourceOption.Api, System::nanoTime);
        Replicas replicas = Replicas.start(
                new ReplicaSettings(
                        trees,
                        config.caches(),
                        ReplicaPlacement.mostFree(),
                        config.replicas(),
                        config.devices().near(),
                        ErofsSelection.ofThisNode(fuse)),
                tasks,
                cacheEvents(config),
                turns);
        DatasetTrees datasets =
                new DatasetTrees(replicas, trees, config.caches().size() > 1);
        Optional<MonitorsConfigMap> monitors = monitors(config);
        OpenedDatasets opened =
                new OpenedDatasets(state.path().resolve("opened"), config.offlineFor(), InstantSource.system());
        NodeVolumes volumes = new NodeVolumes(
                state.path(),
                MounterSelection.ofThisNode(
                                config.mounter(),
                                config.id().name(),
                                config.fuse().caches(),
                                fuse,
                                datasets)
                        .following(monitors.<CurrentMonitors>map(map -> map).orElse(CurrentMonitors.OF_THE_VOLUME)),
                datasets,
                opened,
                calls,
                config.limits());
        register(metrics, calls);
        ReplicaMetrics.register(metrics, replicas);
        NodeGrants grants = NodeGrants.from(config.grants(), metrics);
        Optional<Registration> registration =
                config.registration().map(plugin -> new Registration(plugin, InstantSource.system(), metrics));
        PublishedPods published = new PublishedPods(state.path().resolve("pods"));
        PodHealth pods = new PodHealth(published, events(config), metrics);
        Machine machine = new Machine(
                config.devices().machine(),
                config.caches().stream().map(CacheDirectoryLimits::directory).toList(),
                calls);
        Optional<KubeletPodDevices> kubelet = config.devices().kubelet(metrics);
        DeviceClaims claims = claims(config, metrics);
        NearestCaches nearest = new NearestCaches(DeviceConfig.devices(kubelet, claims), machine);
        DatasetPlacement placement = new DatasetPlacement(nearest, pods, metrics);
        InlineVolumes inline = new InlineVolumes(state.path().resolve("inline"));
        volumes.recover();
        published.sweep();
        inline.sweep();
        opened.sweep();
        InlineDatasets asked = inlineDatasets(config);
        OfflineDatasets offline = new OfflineDatasets(
                state.path().resolve("offline"),
                config.offlineFor(),
                grants.check(),
                volumes,
                asked,
                published,
                pods,
                metrics,
                System::nanoTime);
        NodeService service = new NodeService(
                config.id(),
                config.maxVolumes(),
                volumes,
                grants.check(),
                new Inline(inline, asked, offline),
                placement,
                pods,
                config.server().deadlines());
        DriverProcess process = DriverProcess.start(
                config.server(),
                new DriverProcess.Parts(
                        // CSI wants the whole driver's capabilities from each of its processes
                        List.of(IdentityService.Offer.values()),
                        List.of(service),
                        new NodeCheck(registration, grants),
                        metrics));
        process.closeAtEnd("state directory", state);
        process.closeAtEnd("replicas", replicas);
        process.closeAtEnd("mount calls", calls);
        process.closeAtEnd("pod events", pods);
        process.closeAtEnd("offline datasets", offline.start(tasks));
        monitors.ifPresent(map -> process.closeAtEnd("monitors", map));
        kubelet.ifPresent(known -> process.closeAtEnd(
                "following",
                new GpuAffinityRebalancer(new RunningPodCaches(known, claims, nearest), datasets, published, placement)
                        .start(tasks)));
        Optional<ReplicaOrderRunner> warmer =
                orders(config, tasks).map(each -> new ReplicaOrderRunner(each, volumes, replicas, turns).start());
        warmer.ifPresent(each -> process.closeAtEnd("warming", each));
        CacheService control = new CacheService(replicas, config.server().deadlines());
        startServer(process, "control", () -> control.serve(config.control()));
        DatasetPages pages = new DatasetPages(replicas, name -> warmer.flatMap(each -> each.ordered(name)));
        startServer(process, "http", () -> HttpServer.startForRoot(config.http().socket(), pages));
        Optional<MetricsReaders> readers = metricsReaders(config);
        readers.ifPresent(each -> process.closeAtEnd("metrics readers", each));
        config.http()
                .remote()
                .ifPresent(each -> startServer(process, "https", () -> {
                    RemotePages remote = new RemotePages(pages, new MetricsPage(metrics), each.auth(), readers);
                    return HttpServer.startWithTls(each.address(), each.auth(), remote, remote);
                }));
        grants.begin(process);
        registration.ifPresent(each -> offer(each, process));
        return process;
    }

    /// Returns where to report the health of pods' volumes: to the API if grants come from it.
    private static PodEvents events(NodeConfig config) {
        return switch (config.grants()) {
            case GrantsSourceOption.Nowhere _, GrantsSourceOption.File _ -> PodEvents.NOWHERE;
            case GrantsSourceOption.Api(var access, var _) ->
                new EventsApi(access, config.server().driverName().toString(), config.id());
        };
    }

    /// Returns the ConfigMap of the clusters' current monitors, if grants come from the API.
    private static Optional<MonitorsConfigMap> monitors(NodeConfig config) {
        return switch (config.grants()) {
            case GrantsSourceOption.Nowhere _, GrantsSourceOption.File _ -> Optional.empty();
            case GrantsSourceOption.Api(var access, var namespace) ->
                Optional.of(new MonitorsConfigMap(access, namespace));
        };
    }

    private static Consumer<String> cacheEvents(NodeConfig config) {
        return switch (config.grants()) {
            case GrantsSourceOption.Nowhere _, GrantsSourceOption.File _ -> _ -> {};
            case GrantsSourceOption.Api(var access, var _) ->
                new CacheEvents(
                        new EventsApi(access, config.server().driverName().toString(), config.id()));
        };
    }

    /// Returns how to request datasets of inline volumes from the controller, if grants come from the API.
    private static InlineDatasets inlineDatasets(NodeConfig config) {
        return switch (config.grants()) {
            case GrantsSourceOption.Nowhere _, GrantsSourceOption.File _ -> InlineDatasets.NONE;
            case GrantsSourceOption.Api(var access, var _) -> new DatasetAccessApi(access, config.id());
        };
    }

    /// Returns the reader of ResourceClaims, if grants come from the API. RBAC decides whether it may read them.
    private static DeviceClaims claims(NodeConfig config, PrometheusRegistry metrics) {
        return switch (config.grants()) {
            case GrantsSourceOption.Nowhere _, GrantsSourceOption.File _ -> DeviceClaims.NONE;
            case GrantsSourceOption.Api(var access, var _) -> new ResourceClaimsApi(access, config.id(), metrics);
        };
    }

    /// Returns the check of who may read the node's metrics, if grants come from the API.
    private static Optional<MetricsReaders> metricsReaders(NodeConfig config) {
        return switch (config.grants()) {
            case GrantsSourceOption.Nowhere _, GrantsSourceOption.File _ -> Optional.empty();
            case GrantsSourceOption.Api(var access, var _) -> Optional.of(new MetricsReaders(access));
        };
    }

    /// Returns the controller's replica orders for this node, if grants come from the API.
    private static Optional<ReplicaOrders> orders(NodeConfig config, BackgroundTasks tasks) {
        return switch (config.grants()) {
            case GrantsSourceOption.Nowhere _, GrantsSourceOption.File _ -> Optional.empty();
            case GrantsSourceOption.Api(var access, var _) ->
                Optional.of(new DatasetReplicaApi(access, config.id(), tasks));
        };
    }

    private static void register(PrometheusRegistry metrics, BlockingCalls calls) {
        GaugeWithCallback.builder()
                .name("siphon_mount_calls")
                .help("Mount calls to the kernel in progress; those that stay are hung.")
                .callback(callback -> callback.call(calls.underWay()))
                .register(metrics);
    }

    private static void offer(Registration registration, DriverProcess process) {
        RegistrationService service = new RegistrationService(registration);
        startServer(process, "registration", () -> {
            registration.open(service::serve);
            return registration;
        });
    }

    /// Starts one more server of the process; stops the process if that fails.
    private static void startServer(DriverProcess process, String name, Supplier<AutoCloseable> server) {
        try {
            process.closeFirst(name, server.get());
        } catch (StartFailure e) {
            process.stop();
            throw e;
        }
    }
}
