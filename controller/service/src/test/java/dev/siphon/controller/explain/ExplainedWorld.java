package dev.siphon.controller.explain;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.dataset.MintedKeys;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.key.ClientSession;
import dev.siphon.controller.key.NoSessions;
import dev.siphon.controller.key.VolumeCaps;
import dev.siphon.controller.key.VolumeIdentity;
import dev.siphon.controller.kubernetes.KubernetesAdapter;
import dev.siphon.controller.kubernetes.TestCluster;
import dev.siphon.controller.volume.Callers;
import dev.siphon.controller.volume.ClassParameters;
import dev.siphon.controller.volume.ControllerDomain;
import dev.siphon.controller.volume.InMemoryCeph;
import dev.siphon.controller.volume.InMemoryDirectory;
import dev.siphon.controller.volume.Owners;
import dev.siphon.controller.volume.VolumeRequest;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetReplica;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/// A Ceph with volumes of two accounts, and the real adapter over an API server in memory.
final class ExplainedWorld implements AutoCloseable {
    static final String DIGEST = "0123456789abcdef".repeat(4);

    private static final long GIB = 1L << 30;

    private final InMemoryCeph ceph = new InMemoryCeph();
    private final MintedKeys identities = new MintedKeys();
    private final List<ClientSession> sessions = new ArrayList<>();
    private final TestCluster cluster;
    private final KubernetesAdapter adapter;

    final InMemoryDirectory directory =
            new InMemoryDirectory(Map.of("u1", account("u1", 10_001), "u2", account("u2", 10_002)));

    /// What could not be read.
    final List<String> unanswered = new ArrayList<>();

    /// Whether the driver may not list sessions.
    boolean deniesSessions;

    private ExplainedWorld(TestCluster cluster) {
        this.cluster = cluster;
        this.adapter = KubernetesAdapter.open(cluster.access(), "cephfs.siphon.dev", () -> Duration.ofSeconds(20));
        for (String name : List.of("u1", "u2")) {
            post("/api/v1/namespaces", """
                    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "%s"}}
                    """.formatted(name));
        }
    }

    /// @param folder for the kubeconfig
    static ExplainedWorld in(Path folder) {
        return new ExplainedWorld(TestCluster.inMemory(folder));
    }

    static Account account(String name, int uid) {
        return new Account(name, "id of " + name, uid, uid, Set.of(name), OptionalLong.empty());
    }

    KnownPlaces places() {
        return new KnownPlaces(
                ceph.ports(),
                identities,
                new NoSessions() {
                    @Override
                    public List<ClientSession> all(String clusterId, String fileSystem) {
                        if (deniesSessions) {
                            throw new DriverException.AccessDenied("no right to list sessions");
                        }
                        return sessions;
                    }
                },
                directory,
                Optional.of(inKubernetes()));
    }

    KnownPlaces.InKubernetes inKubernetes() {
        return new KnownPlaces.InKubernetes(
                adapter.objects(), adapter.datasets(), () -> adapter.warming().replicas());
    }

    /// Returns what `siphon whois` prints, with a line per fact and an empty line between sheets.
    String whois(String text) {
        return new Whois(places(), (what, why) -> unanswered.add(what + ": " + why.getMessage()))
                .of(text).stream()
                        .map(sheet -> sheet.facts().stream()
                                .map(fact -> fact.what() + " " + fact.value())
                                .collect(Collectors.joining("\n")))
                        .collect(Collectors.joining("\n\n"));
    }

    /// Returns what `siphon why` prints.
    List<String> why(String namespace, String pod) {
        return new PodWait(inKubernetes(), InMemoryCeph.CLUSTER).of(new NamespacedName(namespace, pod));
    }

    /// Creates a volume with its identity.
    VolumeId.Provisioned create(String name, String owner, String... parameters) {
        Map<String, String> all = new HashMap<>(Map.of("owner", owner));
        for (int i = 0; i + 1 < parameters.length; i += 2) {
            all.put(parameters[i], parameters[i + 1]);
        }
        VolumeId.Provisioned made = (VolumeId.Provisioned) ControllerDomain.over(
                        ceph.ports(),
                        new Owners(directory, Optional.empty(), Optional.empty()),
                        Callers.NONE,
                        () -> Duration.ofSeconds(9))
                .volumes()
                .create(new VolumeRequest(
                        name, new CapacityRange(GIB, 0), ClassParameters.parse(all), false, Optional.empty()))
                .id();
        var _ = identities.mint(
                made.cluster(), identity(made), new VolumeCaps("fs", "/", Optional.empty(), "pool", "ns"));
        return made;
    }

    static String identity(VolumeId.Provisioned volume) {
        return VolumeIdentity.first(volume).userId();
    }

    void remove(VolumeId.Provisioned volume) {
        ceph.ports().subvolumes().remove(volume);
    }

    /// Opens a session at the MDS.
    void session(long id, String userId, String host) {
        sessions.add(new ClientSession(1, id, userId, host, "10.0.0.7"));
    }

    private void post(String collection, String object) {
        var _ = cluster.admin().raw(collection, "POST", object);
    }

    /// Creates a bound claim with its PersistentVolume.
    void bound(String volumeName, VolumeId volume, String namespace, String claim) {
        persistentVolume(volumeName, volume, namespace, claim, "Bound");
        claim(namespace, claim, "Bound", volumeName);
    }

    void persistentVolume(String name, VolumeId volume, String namespace, String claim, String phase) {
        post("/api/v1/persistentvolumes", """
                {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "%s"},
                 "spec": {"claimRef": {"namespace": "%s", "name": "%s"},
                          "csi": {"driver": "cephfs.siphon.dev", "volumeHandle": "%s"}},
                 "status": {"phase": "%s"}}
                """.formatted(name, namespace, claim, volume, phase));
    }

    void claim(String namespace, String name, String phase, String volumeName) {
        post("/api/v1/namespaces/" + namespace + "/persistentvolumeclaims", """
                {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "%s"},
                 "spec": {"volumeName": "%s"}, "status": {"phase": "%s"}}
                """.formatted(name, volumeName, phase));
    }

    /// Creates a pod.
    ///
    /// @param spec the rest of its spec, with a comma after each field
    /// @param volume the source of its only volume
    void pod(String namespace, String name, String spec, String volume, String status) {
        post("/api/v1/namespaces/" + namespace + "/pods", """
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s"},
                 "spec": {%s "volumes": [{"name": "data", %s}]}, "status": %s}
                """.formatted(name, spec, volume, status));
    }

    /// Creates a pod that runs on node-a with a claim.
    void runningPod(String namespace, String name, String claim) {
        pod(namespace, name, "\"nodeName\": \"node-a\",", ofClaim(claim), "{\"phase\": \"Running\"}");
    }

    static String ofClaim(String claim) {
        return "\"persistentVolumeClaim\": {\"claimName\": \"" + claim + "\"}";
    }

    static String ofDataset(String name) {
        return "\"csi\": {\"driver\": \"cephfs.siphon.dev\", \"volumeAttributes\": {\"dataset\": \"" + name + "\"}}";
    }

    /// Writes an event.
    ///
    /// @param object `Pod` or `PersistentVolumeClaim`, and the name
    /// @param second of the minute when it occurred
    void event(String namespace, String object, String name, String type, String reason, String message, int second) {
        JsonObject text = new JsonObject();
        text.addProperty("message", message);
        post("/api/v1/namespaces/" + namespace + "/events", """
                {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "%s-%s-%d"},
                 "involvedObject": {"kind": "%s", "namespace": "%s", "name": "%s", "uid": "%s"},
                 "type": "%s", "reason": "%s", "message": %s, "lastTimestamp": "2026-01-01T00:00:%02dZ"}
                """.formatted(
                        name,
                        reason.toLowerCase(Locale.ROOT),
                        second,
                        object,
                        namespace,
                        name,
                        uid(namespace, object, name),
                        type,
                        reason,
                        text.get("message"),
                        second));
    }

    private String uid(String namespace, String kind, String name) {
        String plural = kind.toLowerCase(Locale.ROOT) + "s";
        return JsonParser.parseString(
                        cluster.admin().raw("/api/v1/namespaces/" + namespace + "/" + plural + "/" + name))
                .getAsJsonObject()
                .getAsJsonObject("metadata")
                .get("uid")
                .getAsString();
    }

    /// Deletes a pod.
    void deletePod(String namespace, String name) {
        var _ = cluster.admin().raw("/api/v1/namespaces/" + namespace + "/pods/" + name, "DELETE", "{}");
    }

    /// Declares a dataset and returns its volume.
    VolumeId.DatasetVolume dataset(String name) {
        post("/apis/siphon.dev/v1alpha1/datasets", """
                {"apiVersion": "siphon.dev/v1alpha1", "kind": "Dataset", "metadata": {"name": "%s"},
                 "spec": {"fsName": "fs", "path": "/datasets/%s", "digest": "%s", "readers": ["u1", "group:vision"]}}
                """.formatted(name, name, DIGEST));
        return new VolumeId.DatasetVolume(
                InMemoryCeph.CLUSTER,
                InMemoryCeph.FILE_SYSTEM,
                DIGEST.substring(0, 40),
                Optional.empty(),
                "/datasets/" + name);
    }

    /// Orders a replica, which the node reports.
    void replica(String dataset, VolumeId.DatasetVolume volume, String node, DatasetReplica.Report report) {
        var order = new DatasetReplica.Order(dataset, node, volume, true, Optional.empty());
        post("/apis/siphon.dev/v1alpha1/datasetreplicas", """
                {"apiVersion": "siphon.dev/v1alpha1", "kind": "DatasetReplica", "metadata": {"name": "%s-%s"},
                 "spec": %s, "status": %s}
                """.formatted(
                        dataset, node, order.toSpec(), report.toStatus()));
    }

    @Override
    public void close() {
        adapter.close();
        cluster.close();
    }
}
