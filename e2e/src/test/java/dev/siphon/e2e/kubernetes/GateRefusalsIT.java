package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Pods whose dataset cannot be placed on a disk, and who may write replica objects.
@Tag("kubernetes")
@OnCluster
final class GateRefusalsIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final String READ = "cat /data/two/7";

    @SuppressWarnings("NullAway.Init")
    private static Tenant reader;

    @SuppressWarnings("NullAway.Init")
    private static Tenant stranger;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    @BeforeAll
    static void seal() {
        var _ = Installation.in(CLUSTER);
        reader = Tenant.ofAccount(CLUSTER, 22);
        stranger = Tenant.ofAccount(CLUSTER, 23);
        dataset = SealedDataset.seal(CLUSTER, reader).declare(reader.account());
    }

    @AfterAll
    static void end() {
        stranger.close();
        reader.close();
        dataset.delete();
    }

    @Test
    void aPodThatIsNoReaderWaits() {
        TestPod pod = gated(stranger, "stranger", dataset.reference()).create();

        var _ = pod.told("^DatasetNotReadable: .*is no reader of dataset u22.digits");
        assertEquals("Pending", pod.phase());
    }

    @Test
    void aPodOfADatasetThatIsNotThereWaits() {
        TestPod pod = gated(reader, "mistaken", "u22/numbers").create();

        var _ = pod.told("^DatasetNotReadable: .*there is no dataset .u22.numbers");
        assertEquals("Pending", pod.phase());
    }

    @Test
    void aPodThatSuitsNoNodeIsLeftToTheScheduler() {
        TestPod pod = gated(reader, "nowhere", dataset.reference())
                .with(spec -> spec.withNodeSelector(Map.of("disk", "none")))
                .create();

        var _ = pod.told("^DatasetNotWarm: no node of the cluster suits the pod");
        var _ = pod.told("^FailedScheduling: ");
    }

    private static PodRequest gated(Tenant tenant, String name, String dataset) {
        return tenant.pod(name, READ).withDataset(dataset).gated();
    }

    @Test
    void anAdministratorSaysNeitherHowFarAReplicaIsNorWhereItIsWanted() {
        String replica = warm("administrator");

        assertRefused(
                "only the siphon-node of that node may report a replica's progress",
                CLUSTER.tryKubectl(
                        "patch",
                        "datasetreplica",
                        replica,
                        "--subresource=status",
                        "--type=merge",
                        "-p",
                        "{\"status\": {\"state\": \"Absent\"}}"));
        assertRefused(
                "written by siphon-controller alone",
                CLUSTER.tryKubectl(
                        "patch", "datasetreplica", replica, "--type=merge", "-p", "{\"spec\": {\"node\": \"other\"}}"));
        unwarm("administrator");
    }

    @Test
    void aProgramOfTheNodeAsksByHttp() {
        var _ = warm("http");

        assertTrue(ready(NodeHttp.get("/v1/datasets/" + dataset.reference())));
        assertTrue(ready(NodeHttp.post("/v1/datasets/" + dataset.reference() + "/warm?wait=30")));
        unwarm("http");
    }

    private static boolean ready(String json) {
        return JsonParser.parseString(json).getAsJsonObject().get("ready").getAsBoolean();
    }

    /// Warms the dataset up on every node.
    ///
    /// @return the name of a replica
    private static String warm(String name) {
        CLUSTER.apply("", """
                apiVersion: siphon.dev/v1alpha1
                kind: DatasetWarmup
                metadata: {name: %s}
                spec: {dataset: %s}
                """.formatted(name, dataset.reference()));
        var _ = CLUSTER.await(
                "the warmup is done",
                warmup(name),
                each -> each != null
                        && number(each.get("status", "nodes")) == 1
                        && number(each.get("status", "local")) == 1);
        return dataset.replicas().getFirst().getMetadata().getName();
    }

    private static long number(@Nullable Object value) {
        return value instanceof Number number ? number.longValue() : -1;
    }

    private static void unwarm(String name) {
        var _ = warmup(name).delete();
    }

    private static Resource<GenericKubernetesResource> warmup(String name) {
        return CLUSTER.client()
                .genericKubernetesResources("siphon.dev/v1alpha1", "DatasetWarmup")
                .withName(name);
    }

    @Test
    void theControllerChangesNothingOfAPodButItsGate() {
        var _ = gated(reader, "kept", "u22/numbers").create();

        assertRefused(
                "change nothing else of it",
                asController(
                        "-n",
                        reader.namespace(),
                        "patch",
                        "pod",
                        "kept",
                        "--type=merge",
                        "-p",
                        "{\"metadata\": {\"labels\": {\"more\": \"of-it\"}}}"));
    }

    private static Command.Result asController(String... words) {
        return CLUSTER.tryKubectl(
                Stream.concat(Stream.of("--as=system:serviceaccount:siphon:siphon-controller"), Stream.of(words))
                        .toArray(String[]::new));
    }

    private static void assertTaken(Command.Result result) {
        assertEquals(0, result.exit(), result::output);
    }

    @Test
    void theControllerTakesNoOtherGateFromAPod() {
        String other = "example.org/other";
        var _ = gated(reader, "held", "u22/numbers").gatedBy(other).create();

        assertRefused("change nothing else of it", openHeld(""));
        assertTaken(openHeld("{\"name\": \"" + other + "\"}"));
    }

    /// @param left the gates that stay
    private static Command.Result openHeld(String left) {
        return asController(
                "-n",
                reader.namespace(),
                "patch",
                "pod",
                "held",
                "--dry-run=server",
                "--type=merge",
                "-p",
                "{\"spec\": {\"schedulingGates\": [" + left + "]}}");
    }

    @Test
    void theControllerChangesPersistentVolumesOfItsDriverAloneAndLittleOfThem() {
        persistentVolume("refused-other", "hostPath: {path: /nowhere}");
        persistentVolume("refused-own", "csi: {driver: cephfs.siphon.dev, volumeHandle: 'static:refused'}");
        String keep = "{\"spec\": {\"persistentVolumeReclaimPolicy\": \"Delete\"}}";
        String bind = "{\"spec\": {\"claimRef\": {\"namespace\": \"default\", \"name\": \"mine\"}}}";
        String grow = "{\"spec\": {\"capacity\": {\"storage\": \"2Gi\"}}}";
        String note = "{\"metadata\": {\"annotations\": {\"note\": \"n\"}}}";

        for (String change : List.of(keep, bind, grow, note)) {
            assertRefused("PersistentVolumes of cephfs.siphon.dev alone", changeVolume("refused-other", change));
        }
        assertRefused(
                "PersistentVolumes of cephfs.siphon.dev alone",
                asController("delete", "pv", "refused-other", "--dry-run=server"));
        for (String change : List.of(keep, bind)) {
            assertRefused("nothing else of its spec", changeVolume("refused-own", change));
        }
        for (String change : List.of(grow, note)) {
            assertTaken(changeVolume("refused-own", change));
        }
        assertTaken(asController("delete", "pv", "refused-own", "--dry-run=server"));
        List.of("refused-other", "refused-own")
                .forEach(name ->
                        CLUSTER.client().persistentVolumes().withName(name).delete());
    }

    private static void persistentVolume(String name, String source) {
        CLUSTER.apply("", """
                apiVersion: v1
                kind: PersistentVolume
                metadata: {name: %s}
                spec:
                  capacity: {storage: 1Gi}
                  accessModes: [ReadWriteMany]
                  storageClassName: none
                  persistentVolumeReclaimPolicy: Retain
                  %s
                """.formatted(name, source));
    }

    private static Command.Result changeVolume(String name, String change) {
        return asController("patch", "pv", name, "--dry-run=server", "--type=merge", "-p", change);
    }

    /// Kubernetes puts a token into a Secret of that type.
    @Test
    void theControllerMakesNoSecretForAToken(@TempDir Path folder) throws IOException {
        assertRefused(
                "Secrets of type siphon.dev/volume-key alone", secret(folder, "kubernetes.io/service-account-token"));
        assertRefused("Secrets of type siphon.dev/volume-key alone", secret(folder, "Opaque"));
        assertTaken(secret(folder, "siphon.dev/volume-key"));
    }

    private static Command.Result secret(Path folder, String type) throws IOException {
        Path file = Files.writeString(folder.resolve("secret.yaml"), """
                apiVersion: v1
                kind: Secret
                metadata:
                  name: refused
                  namespace: siphon
                  annotations: {kubernetes.io/service-account.name: siphon-node}
                type: %s
                """.formatted(type));
        return asController("create", "--dry-run=server", "-f", file.toString());
    }

    private static void assertRefused(String why, Command.Result result) {
        assertNotEquals(0, result.exit(), result::output);
        assertTrue(result.output().contains(why), result::output);
    }

    /// Each attempt succeeds in the node's own pod.
    @Test
    void aPodThatIsRootSeesNothingOfTheNodeButTheTree() {
        Installation siphon = Installation.in(CLUSTER);
        TestPod pod = reader.pod("nosy", "sleep 600")
                .as(0)
                .withDataset(dataset.reference())
                .create()
                .ready();
        String number = pod.run("sed", "-n", "s|^/dev/loop\\([0-9]*\\) /data erofs .*|\\1|p", "/proc/mounts");
        assertTrue(number.matches("[0-9]+"), number);

        for (String attempt : List.of(
                "head -c 4096 /dev/loop" + number, "ls /dev/loop-control", "ls /var/lib/siphon/nvme?/cache/*/image")) {
            // the replica may still be filling
            var _ = Await.until(
                    attempt + ", by the node",
                    Cluster.PATIENCE,
                    () -> siphon.onNode("sh", "-c", attempt).exit() == 0);
            assertTrue(pod.attempt("sh", "-c", attempt).output().contains("No such file or directory"), attempt);
        }
        var _ = pod.run("busybox", "mknod", "/disk", "b", "7", number);
        Command.Result read = pod.attempt("head", "-c", "4096", "/disk");
        assertTrue(read.output().contains("Operation not permitted"), read::output);
    }
}
