package dev.siphon.controller.kubernetes;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.kubernetes.resource.DatasetWarmupObject;
import dev.siphon.controller.warm.AdmissionQueue;
import dev.siphon.controller.warm.ClusterNode;
import dev.siphon.controller.warm.GatedPod;
import dev.siphon.controller.warm.OrderedReplica;
import dev.siphon.controller.warm.PodConditions;
import dev.siphon.controller.warm.PodPlacement;
import dev.siphon.controller.warm.ResourceAmounts;
import dev.siphon.controller.warm.Warmup;
import dev.siphon.controller.warm.WarmupCluster;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Reads and writes pods, nodes, `DatasetReplica` and `DatasetWarmup` objects of an API server.
final class KubernetesWarmupCluster implements WarmupCluster {
    /// The path of the API group.
    static final String REPLICAS = "apis/" + DatasetReplica.GROUP + "/" + DatasetReplica.VERSION + "/";

    static final String WARMUPS = "datasetwarmups";

    private static final String JSON = "application/json";
    private static final String MERGE = "application/merge-patch+json";

    private static final List<Integer> GONE = List.of(HttpURLConnection.HTTP_NOT_FOUND);

    private static final String METADATA = "metadata";
    private static final String STATUS = "status";
    private static final String SPEC = "spec";

    private static final Keep OF_OBJECT = Keep.of("metadata.name", "metadata.creationTimestamp", SPEC, STATUS);
    private static final int PAGE = 250;

    private final KubernetesApi api;
    private final ObjectEvents events;
    private final DynamicDevices devices;
    private final Informer<WaitingPods.Waiting> waiting;
    private final Informer<ClusterNode> nodes;
    private final Informer<Warmup> warmups;
    private final RunningPods running;
    private final ReplicaObjects replicas;
    private final PersistentVolumes volumes;
    private final GateClaims claims;
    private final PodConditions conditions;
    private final AdmissionQueue queue;

    /// The gated pods of the last pass, by uid.
    private Map<String, WaitingPods.Waiting> seen = Map.of();

    /// When their wait started. No object records when another gate was removed, so a new leader counts such waits
    /// from zero.
    private Map<String, Instant> since = Map.of();

    /// @param driver the CSI driver's name
    /// @param queue Kueue's Workloads
    KubernetesWarmupCluster(
            KubernetesApi api,
            String driver,
            RunningPods running,
            ReplicaObjects replicas,
            PersistentVolumes volumes,
            DatasetAccesses accesses,
            AdmissionQueue queue) {
        this.api = api;
        this.queue = queue;
        this.running = running;
        this.replicas = replicas;
        this.volumes = volumes;
        this.claims = new GateClaims(api, volumes);
        this.conditions = new KubernetesPodConditions(api, running, volumes, accesses);
        this.events = new ObjectEvents(api, driver);
        this.devices = new DynamicDevices(api, System::nanoTime);
        this.waiting = informer(WaitingPods.SOURCE, new WaitingPods(new PodParser(driver)));
        this.nodes = informer(NodeParser.SOURCE, (node, _) -> Optional.of(NodeParser.node(node)));
        this.warmups = informer(
                new Informer.Source("DatasetWarmups", REPLICAS + WARMUPS, "", PAGE, OF_OBJECT),
                (object, _) -> warmup(object.kept()));
    }

    private <T> Informer<T> informer(Informer.Source source, Informer.Values<T> values) {
        return new Informer<>(api, source, values, System::nanoTime);
    }

    @Override
    public List<BackgroundTasks.Task> follow(BackgroundTasks tasks, Runnable changed) {
        return List.of(
                // first: the others' changes start the first round
                devices.follow(tasks, changed),
                waiting.follow(tasks, changed),
                running.follow(tasks, changed),
                nodes.follow(tasks, changed),
                replicas.follow(tasks, changed),
                warmups.follow(tasks, changed),
                volumes.follow(tasks, changed),
                claims.follow(tasks, changed));
    }

    @Override
    public List<GatedPod> gated(Instant now) {
        List<GatedPod> gated = new ArrayList<>();
        Map<String, WaitingPods.Waiting> pods = new HashMap<>();
        Map<String, List<PodResourceClaim>> claimed = new HashMap<>();
        Map<String, Instant> begins = new HashMap<>();
        for (WaitingPods.Waiting each : waiting.all()) {
            String uid = each.pod().uid();
            Instant begin = since.getOrDefault(uid, each.since().orElse(now));
            gated.add(each.pod().waitingSince(begin));
            pods.put(uid, each);
            if (!each.devices().isEmpty()) {
                claimed.put(uid, each.devices());
            }
            begins.put(uid, begin);
        }
        seen = pods;
        since = begins;
        DynamicDevices.DeviceNeeds more = devices.needs(claimed);
        return gated.stream()
                .map(pod -> pod.needing(
                        more.amounts().getOrDefault(pod.uid(), ResourceAmounts.NONE),
                        !more.unknown().contains(pod.uid())))
                .toList();
    }

    @Override
    public List<ClusterNode> nodes() {
        List<ClusterNode> all = nodes.all();
        Map<String, ResourceAmounts> sums = running.taken();
        return all.stream()
                .map(node -> node.with(ResourceAmounts.NONE, sums.getOrDefault(node.name(), ResourceAmounts.NONE))
                        .with(devices.room(node.name()), devices.taken(node.name())))
                .toList();
    }

    @Override
    public List<OrderedReplica> replicas() {
        List<OrderedReplica> all = replicas.all();
        if (!replicas.isServed()) {
            throw new DriverException.BackendUnavailable(
                    "the cluster has no custom resource datasetreplicas.siphon.dev: the chart makes it");
        }
        return all;
    }

    @Override
    public List<Warmup> warmups() {
        return warmups.all();
    }

    private Optional<Warmup> warmup(JsonObject object) {
        return api.typed(object, DatasetWarmupObject.class)
                .flatMap(warmup -> Optional.ofNullable(warmup.getSpec())
                        .map(spec -> new Warmup(
                                warmup.getMetadata().getName(),
                                Optional.ofNullable(spec.dataset()).orElse(""),
                                Optional.ofNullable(spec.nodeSelector()).orElse(Map.of()),
                                Optional.ofNullable(spec.until()).flatMap(PodParser::time),
                                Optional.ofNullable(warmup.getStatus()).map(KubernetesWarmupCluster::status))));
    }

    private static Warmup.Status status(DatasetWarmupObject.Status said) {
        return new Warmup.Status(
                Optional.ofNullable(said.nodes()).orElse(0),
                Optional.ofNullable(said.local()).orElse(0),
                Optional.ofNullable(said.message()).orElse(""));
    }

    @Override
    public Optional<ClaimContent> claimed(String namespace, String claim) {
        return claims.of(new PersistentVolumes.ClaimKey(namespace, claim));
    }

    @Override
    public void writeOrder(String name, DatasetReplica.Order order) {
        JsonObject object = new JsonObject();
        object.addProperty("apiVersion", DatasetReplica.GROUP + "/" + DatasetReplica.VERSION);
        object.addProperty("kind", DatasetReplica.KIND);
        JsonObject metadata = new JsonObject();
        metadata.addProperty("name", name);
        object.add(METADATA, metadata);
        object.add(SPEC, order.toSpec());
        boolean _ = api.send(
                "create DatasetReplica " + name,
                List.of(HttpURLConnection.HTTP_CONFLICT), // it exists: another controller created it
                ReplicaObjects.PATH,
                request -> request.post(JSON, object.toString()));
    }

    @Override
    public void setWanted(OrderedReplica replica, boolean wanted) {
        patch(replica, DatasetReplica.Order.change(wanted));
    }

    @Override
    public void answer(OrderedReplica replica, DatasetAccess.Answer answer) {
        patch(replica, DatasetReplica.Order.change(answer));
    }

    @Override
    public void setTurn(OrderedReplica replica, Optional<DatasetReplica.Turn> turn) {
        patch(replica, DatasetReplica.Order.change(turn));
    }

    private void patch(OrderedReplica replica, JsonObject spec) {
        JsonObject change = new JsonObject();
        change.add(SPEC, spec);
        boolean _ = api.send(
                "patch DatasetReplica " + replica.name(),
                GONE,
                ReplicaObjects.PATH + "/" + replica.name(),
                request -> request.patch(MERGE, change.toString()));
    }

    @Override
    public void forget(OrderedReplica replica) {
        boolean _ = api.send(
                "delete DatasetReplica " + replica.name(),
                GONE,
                ReplicaObjects.PATH + "/" + replica.name(),
                request -> request.delete(JSON, "{}"));
    }

    /// Removes the gate. Kubernetes allows adding affinity to a gated pod ("Pod Scheduling Readiness"). If the pod
    /// changed since it was read, nothing happens and the next pass retries.
    @Override
    public boolean open(GatedPod pod, PodPlacement placement) {
        WaitingPods.Waiting known = Optional.ofNullable(seen.get(pod.uid())).orElseThrow();
        JsonObject spec = new JsonObject();
        spec.add("schedulingGates", new JsonArray()); // it had only our gate, and Kubernetes allows no new one
        if (!placement.hostnames().isEmpty()) {
            spec.add("affinity", known.affinity().with(placement));
        }
        JsonObject metadata = new JsonObject();
        metadata.addProperty("uid", pod.uid());
        if (!pod.version().isEmpty()) {
            metadata.addProperty("resourceVersion", pod.version());
        }
        JsonObject change = new JsonObject();
        change.add(METADATA, metadata);
        change.add(SPEC, spec);
        boolean opened = api.send(
                "patch Pod " + pod.namespace() + "/" + pod.name(),
                // without 422, which a policy answers: it may refuse what a webhook added to the change
                List.of(HttpURLConnection.HTTP_NOT_FOUND, HttpURLConnection.HTTP_CONFLICT),
                "api/v1/namespaces/" + pod.namespace() + "/pods/" + pod.name(),
                request -> request.patch(MERGE, change.toString()));
        if (opened) {
            waiting.drop(pod.uid());
        }
        return opened;
    }

    @Override
    public void report(GatedPod pod, Notice notice) {
        events.add(
                new ObjectEvents.About("v1", "Pod", pod.namespace(), pod.name(), pod.uid()),
                notice.warning(),
                notice.reason(),
                notice.message());
    }

    @Override
    public AdmissionQueue queue() {
        return queue;
    }

    @Override
    public PodConditions conditions() {
        return conditions;
    }

    @Override
    public void report(Warmup warmup, Warmup.Status status) {
        String change = api.json(
                Map.of("status", new DatasetWarmupObject.Status(status.nodes(), status.local(), status.message())));
        boolean _ = api.send(
                "patch status of DatasetWarmup " + warmup.name(),
                GONE,
                REPLICAS + WARMUPS + "/" + warmup.name() + "/status",
                request -> request.patch(MERGE, change));
    }
}
