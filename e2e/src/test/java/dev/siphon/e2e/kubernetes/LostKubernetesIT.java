package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.CephSubvolumes;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Project;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/// Kubernetes is lost with its etcd, but Ceph is kept: an administrator follows docs/how-to/recovery.md, and users
/// get their volumes and datasets back. The last class on its cluster.
@Tag("kubernetes")
@AloneOnCluster
@Order(6)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class LostKubernetesIT {
    private static final Cluster CLUSTER = Cluster.here();

    /// An MDS closes the sessions of lost clients after 300 s (`session_autoclose`).
    private static final Duration SESSIONS = Duration.ofMinutes(6);

    private static final String WRITE = "mkdir -p /data/deep && head -c 3000000 /dev/urandom >/data/deep/bytes"
            + " && echo of $(id -u) >/data/whose";

    private static final String LOOK =
            "cd /data && md5sum deep/bytes whose && stat -c '%n %u:%g %a' . deep deep/bytes whose";

    /// The users' namespaces and claims, as a Git repository has them.
    private static final String CLAIMS = """
            {apiVersion: v1, kind: Namespace, metadata: {name: %1$s}}
            ---
            {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: %1$s},
             spec: {storageClassName: siphon, accessModes: [ReadWriteMany], resources: {requests: {storage: 128Mi}}}}
            ---
            """;

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant owner;

    @SuppressWarnings("NullAway.Init")
    private static Tenant stranger;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    /// What pods saw, by namespace and claim.
    private static final Map<String, String> SEEN = new TreeMap<>();

    /// The subvolumes, by namespace and claim.
    private static final Map<String, TestClaim.Subvolume> PLACES = new TreeMap<>();

    private static String lostCode = "";
    private static String clusterUid = "";

    @TempDir
    private Path folder = Path.of("");

    @BeforeAll
    static void useAndLose() throws IOException {
        siphon = Installation.in(CLUSTER);
        SnapshotController.addTo(siphon, CLUSTER);
        siphon.folder().cephCaps("--key-commands", "--change");
        owner = Tenant.ofAccount(CLUSTER, 71);
        stranger = Tenant.ofAccount(CLUSTER, 72);
        dataset = SealedDataset.seal(CLUSTER, owner).declare(owner.account());
        var _ = owner.claim(
                "home",
                "1Gi",
                claim -> claim.editSpec().withStorageClassName("siphon-home").endSpec());
        write(owner, "home");
        var _ = owner.claim("data", "128Mi");
        write(owner, "data");
        var _ = stranger.claim("data", "128Mi");
        write(stranger, "data");
        var _ = owner.datasetClaim("digits", dataset.reference());
        assertEquals("seven", sevenOf(owner));
        clusterUid = uidOfKubernetes();
        lostCode = dataset.identities().getFirst().replaceFirst(".*\\.(k[0-9a-v]{9})\\..*", "$1");
        CLUSTER.apply(owner.namespace(), """
                {"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot", "metadata": {"name": "before"},
                 "spec": {"volumeSnapshotClassName": "siphon", "source": {"persistentVolumeClaimName": "data"}}}""");
        SnapshotController.awaitReady(owner, "before");
        // a controller checks everything when it starts
        var _ = CLUSTER.kubectl("-n", Installation.NAMESPACE, "rollout", "restart", "deployment/siphon-controller");
        siphon.rolledOut();
        awaitRecords();
        var _ = Command.run(Cluster.PATIENCE.multipliedBy(2), List.of(lab(), "kubernetes", "lose"));
        SnapshotController.addAgain(CLUSTER);
        GpuMachine.plug(CLUSTER, GpuMachine.GPUS);
    }

    private static String lab() {
        return Project.folder().resolve("e2e/lab").toString();
    }

    private static String uidOfKubernetes() {
        return CLUSTER.kubectl("get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}");
    }

    private static void write(Tenant tenant, String claim) {
        TestPod writer =
                tenant.pod("writer-" + claim, WRITE).withClaim(claim).create().succeeded();
        writer.delete();
        SEEN.put(tenant.namespace() + "/" + claim, look(tenant, claim));
        PLACES.put(tenant.namespace() + "/" + claim, tenant.claimCalled(claim).subvolume());
    }

    private static String look(Tenant tenant, String claim) {
        TestPod looker =
                tenant.pod("look-" + claim, LOOK).withClaim(claim).create().succeeded();
        String seen = looker.log();
        looker.delete();
        return seen;
    }

    private static String sevenOf(Tenant tenant) {
        TestPod reader = tenant.pod("reader", "cat /data/two/7")
                .withClaim("digits")
                .create()
                .succeeded();
        String seven = reader.log().strip();
        reader.delete();
        return seven;
    }

    /// Waits for the records. A controller writes them some seconds after a claim, and within a minute for a
    /// dataset.
    private static void awaitRecords() throws IOException {
        try (CephTree tree = CephTree.mount(CLUSTER.lab())) {
            for (TestClaim.Subvolume place : PLACES.values()) {
                Path directory = tree.at("/volumes/" + place);
                var _ = Await.until(
                        "a record of " + place,
                        Cluster.PATIENCE,
                        () -> attribute(directory, "siphon.persistentvolume").contains("claimRef"));
            }
            Path data = tree.at("/volumes/" + PLACES.get("u71/data"));
            var _ = Await.until(
                    "a record of the snapshot",
                    Cluster.PATIENCE,
                    () -> attributes(data).stream().anyMatch(name -> name.startsWith("siphon.snapshot.")));
            var _ = Await.until(
                    "a record of the dataset",
                    Cluster.PATIENCE,
                    () -> attribute(tree.at(dataset.path()), "siphon.declared").contains(dataset.digest()));
        }
    }

    private static List<String> attributes(Path path) {
        try {
            return Files.getFileAttributeView(path, UserDefinedFileAttributeView.class)
                    .list();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String attribute(Path path, String name) {
        UserDefinedFileAttributeView view = Files.getFileAttributeView(path, UserDefinedFileAttributeView.class);
        try {
            ByteBuffer value = ByteBuffer.allocate(view.size(name));
            int _ = view.read(name, value);
            return StandardCharsets.UTF_8.decode(value.flip()).toString();
        } catch (IOException _) {
            // there is no such attribute yet
            return "";
        }
    }

    @AfterAll
    static void end() {
        owner.close();
        stranger.close();
        dataset.delete();
        siphon.folder().cephCaps("--change");
    }

    private static String moreClaims(String namespace) {
        return """
            {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: home, namespace: %1$s},
             spec: {storageClassName: siphon-home, accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}}
            ---
            {apiVersion: v1, kind: PersistentVolumeClaim,
             metadata: {name: digits, namespace: %1$s, annotations: {siphon.dev/dataset: %1$s/digits}},
             spec: {storageClassName: siphon, accessModes: [ReadOnlyMany], resources: {requests: {storage: 1Gi}}}}
            """.formatted(namespace);
    }

    @Test
    @Order(1)
    void whatTheDocsSayBringsVolumesAndDatasetsBack() throws IOException {
        assertFalse(clusterUid.equals(uidOfKubernetes()), "another Kubernetes");
        assertEquals(List.of(), CLUSTER.client().persistentVolumes().list().getItems());
        Path claims = folder.resolve("claims.yaml");
        Files.writeString(
                claims,
                CLAIMS.formatted(owner.namespace())
                        + CLAIMS.formatted(stranger.namespace())
                        + moreClaims(owner.namespace()));

        String said = DocumentedBlock.below("## Kubernetes is lost, Ceph is kept", "how-to/recovery.md")
                .with("DEPLOY=deploy ", "DEPLOY=" + siphon.folder().path() + " CLAIMS=" + claims)
                .run(folder);

        assertTrue(said.contains("persistentvolume/") && said.contains("dataset.siphon.dev/"), said);
        for (Map.Entry<String, TestClaim.Subvolume> each : PLACES.entrySet()) {
            Tenant tenant = each.getKey().startsWith(owner.namespace() + "/") ? owner : stranger;
            TestClaim claim = tenant.claimCalled(
                    each.getKey().substring(tenant.namespace().length() + 1));
            assertEquals(each.getValue(), claim.bound().subvolume(), each.getKey());
        }
    }

    @Test
    @Order(2)
    void podsReadTheSameBytesOfTheSameOwners() {
        assertEquals(SEEN.get("u71/data"), look(owner, "data"));
        assertEquals(SEEN.get("u71/home"), look(owner, "home"));
        assertEquals(SEEN.get("u72/data"), look(stranger, "data"));
        TestPod writer = owner.pod(
                        "writer-again", "echo more >/data/more && stat -c %u:%g /data/more && df /data | tail -1")
                .withClaim("data")
                .create()
                .succeeded();
        assertEquals("10071:10071", writer.log().lines().findFirst().orElse(""));
        writer.delete();
    }

    @Test
    @Order(2)
    void theQuotaIsWhatItWas() {
        TestPod full = owner.pod(
                        "full",
                        "dd if=/dev/zero of=/data/large bs=1M count=400 2>&1; stat -c %s /data/large; rm /data/large")
                .withClaim("data")
                .create()
                .succeeded();
        String log = full.log();
        assertTrue(log.contains("quota exceeded") || log.contains("Disk quota exceeded"), log);
        full.delete();
    }

    @Test
    @Order(2)
    void theDatasetIsReadByItsReaderAndByNobodyElse() {
        assertEquals("seven", sevenOf(owner));
        TestPod thief =
                stranger.pod("thief", "true").withDataset(dataset.reference()).create();
        String _ = thief.told("code = PermissionDenied desc = .*is no reader of dataset u71.digits");
        thief.remove();
    }

    /// Adds a second PersistentVolume for the recovered volume, whose Secret exists.
    @Test
    @Order(2)
    void anotherAccountsPodsAreRefusedStill() {
        PersistentVolume volume = owner.claimCalled("data").volume();
        PersistentVolume stolen = new PersistentVolumeBuilder(volume)
                .withNewMetadata()
                .withName("stolen")
                .endMetadata()
                .withStatus(null)
                .editSpec()
                .withPersistentVolumeReclaimPolicy("Retain")
                .withStorageClassName("stolen")
                .withNewClaimRef()
                .withNamespace(stranger.namespace())
                .withName("stolen")
                .endClaimRef()
                .endSpec()
                .build();
        var _ = CLUSTER.client().persistentVolumes().resource(stolen).create();
        TestClaim claim = stranger.claim(
                "stolen",
                "128Mi",
                each -> each.editSpec().withStorageClassName("stolen").endSpec());
        TestPod pod = stranger.pod("stolen", "true").withClaim("stolen").create();

        String _ = pod.told("code = PermissionDenied desc = .*");

        pod.delete();
        claim.delete();
        var _ = CLUSTER.client().persistentVolumes().withName("stolen").delete();
    }

    @Test
    @Order(2)
    void aVolumeIsMadeOfASnapshotThatWasRecovered() throws IOException {
        List<Command.Result> tries = new ArrayList<>();
        // until Ceph gives up on the clients of pods that are lost, `recover` says to retry
        var _ = Await.until("the snapshots are printed", Cluster.PATIENCE, () -> {
            tries.add(siphon.siphon("recover", "--only", "snapshots", "--account", owner.account()));
            return tries.getLast().exit() == 0;
        });
        Path snapshots = Files.writeString(
                folder.resolve("snapshots.yaml"), tries.getLast().output());
        var _ = CLUSTER.kubectl("apply", "-f", snapshots.toString());
        SnapshotController.awaitReady(owner, "before");
        TestClaim restored = owner.claim(
                "restored",
                "128Mi",
                claim -> claim.editSpec()
                        .withNewDataSource()
                        .withApiGroup("snapshot.storage.k8s.io")
                        .withKind("VolumeSnapshot")
                        .withName("before")
                        .endDataSource()
                        .endSpec());

        assertEquals(SEEN.get("u71/data"), look(owner, "restored"));

        restored.delete();
        var _ = CLUSTER.kubectl("-n", owner.namespace(), "delete", "volumesnapshot", "before");
    }

    @Test
    @Order(3)
    void theIdentitiesOfTheLostKubernetesGoWhenAnAdministratorSaysThatItIsLost() {
        Command.Result remark = siphon.siphon("audit", "--json", "--pause", "3");
        assertEquals(0, remark.exit(), remark::output);
        assertEquals(
                List.of("other-kubernetes"),
                remark.output()
                        .lines()
                        .filter(line -> line.startsWith("{"))
                        .map(line -> JsonParser.parseString(line)
                                .getAsJsonObject()
                                .get("finding")
                                .getAsString())
                        .toList(),
                remark::output);
        assertTrue(remark.output().contains("--lost-kubernetes " + lostCode), remark::output);

        var _ = Await.until("its sessions have ended", SESSIONS, () -> {
            Command.Result repaired = siphon.siphon(
                    "audit", "--repair", "--yes", "--lost-kubernetes", lostCode, "--json", "--pause", "3");
            return repaired.output().contains("done: auth rm");
        });

        assertEquals(
                List.of(),
                CLUSTER.cephIdentities().filter(each -> each.contains(lostCode)).toList());
        Command.Result found = siphon.siphon("audit", "--json", "--pause", "3");
        assertEquals(0, found.exit(), found::output);
        assertEquals("", found.output().strip());
        assertEquals("seven", sevenOf(owner));
    }

    @Test
    @Order(4)
    void aVolumeThatWasRecoveredGoesWithItsClaim() {
        TestClaim claim = owner.claimCalled("data");
        String volume = claim.volume().getMetadata().getName();

        claim.delete();

        var _ = CLUSTER.await(
                "the end of " + volume, CLUSTER.client().persistentVolumes().withName(volume), each -> each == null);
        assertFalse(
                CephSubvolumes.all().contains(String.valueOf(PLACES.get("u71/data"))),
                () -> "u71/data is in Ceph still");
        assertTrue(CephSubvolumes.all().contains(String.valueOf(PLACES.get("u72/data"))));
    }
}
