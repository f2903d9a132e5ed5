package dev.siphon.controller.explain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetReplica;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// One sentence for each thing that a pod may wait for.
@Timeout(60)
final class PodWaitTest {
    private static final String GATED = "\"schedulingGates\": [{\"name\": \"siphon.dev/dataset\"}],";
    private static final String ON_NODE = "\"nodeName\": \"node-a\",";
    private static final String PENDING = "{\"phase\": \"Pending\"}";
    private static final String CREATING = """
            {"phase": "Pending",
             "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "ContainerCreating"}}}]}
            """;

    @TempDir
    private Path folder = Path.of("");

    @SuppressWarnings("NullAway.Init")
    private ExplainedWorld world;

    @BeforeEach
    void start() {
        world = ExplainedWorld.in(folder);
    }

    @AfterEach
    void end() {
        world.close();
    }

    private void assertWhy(String... sentences) {
        assertEquals(List.of(sentences), world.why("u1", "train"));
    }

    @Test
    void aPodThatIsNotThereIsNotFound() {
        assertThrows(DriverException.NotFound.class, () -> world.why("u1", "train"));
    }

    @Test
    void aRunningPodWaitsForNothing() {
        world.bound("pvc-1", world.create("pvc-1", "u1"), "u1", "data");
        world.runningPod("u1", "train", "data");

        assertWhy("pod u1/train runs on node node-a and waits for nothing");
    }

    @Test
    void aPodThatHasEndedWaitsForNothing() {
        world.pod("u1", "train", ON_NODE, ExplainedWorld.ofClaim("data"), "{\"phase\": \"Failed\"}");

        assertWhy("pod u1/train has ended (Failed) and waits for nothing");
    }

    @Test
    void aMissingClaimIsNamed() {
        world.pod("u1", "train", "", ExplainedWorld.ofClaim("data"), """
                {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
                 "message": "persistentvolumeclaim \\"data\\" not found"}]}
                """);

        assertWhy(
                "pod u1/train waits for claim u1/data, which does not exist: create it, or correct the name in the pod",
                "pod u1/train waits for a node: persistentvolumeclaim \"data\" not found;"
                        + " it is placed as soon as a node suits");
    }

    @Test
    void aClaimThatIsRefusedSaysWhyInTheDriversWords() {
        world.claim("u1", "data", "Pending", "");
        world.pod("u1", "train", GATED.replace("siphon.dev/dataset", "other"), ExplainedWorld.ofClaim("data"), PENDING);
        refuse("ResourceExhausted", "account \"u1\" has 1 GiB left of its allowance", 1);
        world.event("u1", "PersistentVolumeClaim", "data", "Normal", "ExternalProvisioning", "Waiting", 2);

        assertWhy(
                "pod u1/train waits for claim u1/data, which has no volume yet: ResourceExhausted: account \"u1\" has"
                        + " 1 GiB left of its allowance; it is tried again, but fails until somebody does what this says",
                "pod u1/train waits at the scheduling gate other, which is not Siphon's: ask whoever set it");
    }

    private void refuse(String code, String message, int second) {
        world.event(
                "u1",
                "PersistentVolumeClaim",
                "data",
                "Warning",
                "ProvisioningFailed",
                "failed to provision volume with StorageClass \"siphon\": rpc error: code = " + code + " desc = "
                        + message,
                second);
    }

    @Test
    void aClaimThatIsBeingFilledSaysHowFarItIs() {
        world.claim("u1", "data", "Pending", "");
        world.pod("u1", "train", "", ExplainedWorld.ofClaim("data"), PENDING);
        refuse("Aborted", "the clone into v1 is 12% done", 1);
        refuse("Aborted", "the clone into v1 is 43% done", 2);

        assertTrue(
                world.why("u1", "train")
                        .getFirst()
                        .endsWith(": Aborted: the clone into v1 is 43% done; it is tried again by itself"),
                () -> world.why("u1", "train").toString());
    }

    @Test
    void aClaimThatNobodyProvisionsPointsAtTheController() {
        world.claim("u1", "data", "Pending", "");
        world.pod("u1", "train", "", ExplainedWorld.ofClaim("data"), PENDING);
        world.event("u1", "PersistentVolumeClaim", "data", "Normal", "ExternalProvisioning", "Waiting for it", 1);

        assertTrue(
                world.why("u1", "train").getFirst().contains(": Waiting for it; this takes seconds, so if it lasts"),
                () -> world.why("u1", "train").toString());
    }

    @Test
    void aClaimThatWaitsForThePodIsNoReason() {
        world.claim("u1", "data", "Pending", "");
        world.pod("u1", "train", "", ExplainedWorld.ofClaim("data"), PENDING);
        world.event("u1", "PersistentVolumeClaim", "data", "Normal", "WaitForFirstConsumer", "waiting", 1);

        assertWhy("pod u1/train waits for a node: the scheduler has not said why yet;"
                + " it is placed as soon as a node suits");
    }

    @Test
    void theGateSaysHowFarEachReplicaIsAndUntilWhenItWaits() {
        VolumeId.DatasetVolume dataset = world.dataset("u1.digits");
        world.dataset("u1.others");
        world.pod("u1", "train", GATED, ExplainedWorld.ofDataset("u1/digits"), PENDING);
        world.replica("u1.digits", dataset, "node-a", DatasetReplica.Report.filling(43, 1, "/mnt"));
        world.replica("u1.digits", dataset, "node-b", DatasetReplica.Report.failed("disk full"));
        world.replica("u1.others", dataset, "node-c", DatasetReplica.Report.filling(1, 1, "/mnt"));
        world.event(
                "u1",
                "Pod",
                "train",
                "Normal",
                "DatasetWarming",
                "dataset u1.digits is being filled on node-a; the pod waits for that until 2026-01-01T01:00:00Z at most",
                1);

        assertWhy("pod u1/train waits at the gate for dataset u1.digits: 43 % on node node-a, failed: disk full on node"
                + " node-b; it waits until 2026-01-01T01:00:00Z at most, and then starts and reads from CephFS; nothing"
                + " to do, or remove the gate from the pod to start it at once");
    }

    @Test
    void aRunningPodWhoseDatasetIsNotOnItsDiskSaysHowFarItIs() {
        VolumeId.DatasetVolume dataset = world.dataset("u1.digits");
        world.pod("u1", "train", ON_NODE, ExplainedWorld.ofDataset("u1/digits"), "{\"phase\": \"Running\"}");
        world.replica("u1.digits", dataset, "node-b", DatasetReplica.Report.local(1, "/mnt"));
        world.replica("u1.digits", dataset, "node-a", DatasetReplica.Report.filling(43, 1, "/mnt"));

        assertWhy(
                "pod u1/train runs on node node-a and waits for nothing",
                "pod u1/train reads dataset u1.digits from CephFS until it is whole on a disk: 43 % on node node-a;"
                        + " the pod runs meanwhile, however long that takes; nothing to do, unless a fill fails");
    }

    @Test
    void theGateKnowsTheDatasetOfAClaim() {
        VolumeId.DatasetVolume dataset = world.dataset("u1.digits");
        world.bound("pvc-d", dataset.forUse("0123456789av"), "u1", "data");
        world.pod("u1", "train", GATED, ExplainedWorld.ofClaim("data"), PENDING);

        assertWhy("pod u1/train waits at the gate for dataset u1.digits: no replica is ordered yet; it waits as long as"
                + " its annotation siphon.dev/max-wait or the controller's --gate-max-wait allows; nothing to do, or"
                + " remove the gate from the pod to start it at once");
    }

    @Test
    void aGateThatStaysClosedSaysWhatToDo() {
        world.pod("u1", "train", GATED, ExplainedWorld.ofDataset("u2/secret"), PENDING);
        world.event("u1", "Pod", "train", "Normal", "DatasetWarming", "x", 1);
        world.event("u1", "Pod", "train", "Warning", "DatasetNotReadable", "the pod cannot run: no reader", 2);

        assertWhy("pod u1/train waits at the gate, which stays closed until somebody acts:"
                + " the pod cannot run: no reader");
    }

    @Test
    void aMountThatFailsSaysWhyInTheDriversWords() {
        world.bound("pvc-1", world.create("pvc-1", "u1"), "u1", "data");
        world.pod("u1", "train", ON_NODE, ExplainedWorld.ofClaim("data"), CREATING);
        world.event(
                "u1",
                "Pod",
                "train",
                "Warning",
                "FailedMount",
                "MountVolume.SetUp failed for volume \"pvc-1\" : rpc error: code = PermissionDenied desc = namespace u1"
                        + " was not granted it",
                1);
        world.event("u1", "Pod", "train", "Warning", "FailedMount", "Unable to attach or mount volumes: timed out", 2);

        assertWhy("pod u1/train waits on node node-a for a volume: PermissionDenied: namespace u1 was not granted it;"
                + " it is tried again, but fails until somebody does what this says");
    }

    @Test
    void aPodWhoseVolumesAreMountedWaitsForSomethingElse() {
        world.claim("u1", "data", "Bound", "pvc-1");
        world.pod("u1", "train", ON_NODE, ExplainedWorld.ofClaim("data"), CREATING);
        world.event("u1", "Pod", "train", "Warning", "FailedMount", "rpc error: code = Unavailable desc = x", 1);
        world.event("u1", "Pod", "train", "Normal", "Pulling", "pulling the image", 2);

        assertWhy("pod u1/train waits on node node-a for its containers (main: ContainerCreating); no volume has failed"
                + " there, so kubectl -n u1 describe pod train says more");
    }

    @Test
    void anEarlierPodOfTheNameSaysNothingAboutThisOne() {
        world.claim("u1", "data", "Bound", "pvc-1");
        world.pod("u1", "train", ON_NODE, ExplainedWorld.ofClaim("data"), CREATING);
        world.event("u1", "Pod", "train", "Warning", "FailedMount", "rpc error: code = Unavailable desc = x", 1);
        world.deletePod("u1", "train");
        world.pod("u1", "train", ON_NODE, ExplainedWorld.ofClaim("data"), CREATING);

        assertWhy("pod u1/train waits on node node-a for its containers (main: ContainerCreating); no volume has failed"
                + " there, so kubectl -n u1 describe pod train says more");
    }

    @Test
    void anImageThatIsNotThereIsNoFaultOfAVolume() {
        world.pod(
                "u1",
                "train",
                ON_NODE,
                ExplainedWorld.ofClaim("data"),
                CREATING.replace("ContainerCreating", "ErrImagePull"));
        world.claim("u1", "data", "Bound", "pvc-1");
        world.event("u1", "Pod", "train", "Warning", "FailedMount", "rpc error: code = Unavailable desc = x", 1);

        assertWhy("pod u1/train waits on node node-a for its containers (main: ErrImagePull); no volume has failed"
                + " there, so kubectl -n u1 describe pod train says more");
    }

    @Test
    void aRunningPodWhoseVolumeIsSickSaysSo() {
        world.claim("u1", "data", "Bound", "pvc-1");
        world.runningPod("u1", "train", "data");
        world.event("u1", "Pod", "train", "Normal", "VolumeConditionNormal", "well", 1);
        world.event("u1", "Pod", "train", "Warning", "VolumeConditionAbnormal", "volume pvc-1 does not answer", 2);

        assertWhy("pod u1/train runs on node node-a, but its volume is not well since 2026-01-01T00:00:02Z:"
                + " volume pvc-1 does not answer");
    }

    @Test
    void whatTenantsWriteCannotControlATerminal() {
        world.pod("u1", "train", GATED, ExplainedWorld.ofDataset("u2/x"), PENDING);
        world.event("u1", "Pod", "train", "Warning", "DatasetNotReadable", "a\u001b[2Jb\nc" + "x".repeat(2000), 1);

        String sentence = world.why("u1", "train").getFirst();

        assertTrue(sentence.contains("a [2Jb c"), sentence);
        assertTrue(sentence.length() < 800, sentence);
    }
}
