package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Command;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// `siphon whois` and `siphon why` in the leader's pod, with the rights that the chart gives it.
@Tag("kubernetes")
@OnCluster
final class NightDebuggerIT {
    private static final Cluster CLUSTER = Cluster.here();

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @SuppressWarnings("NullAway.Init")
    private static TestPod train;

    @SuppressWarnings("NullAway.Init")
    private static PersistentVolume volume;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    @BeforeAll
    static void train() {
        siphon = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 26);
        dataset = SealedDataset.seal(CLUSTER, tenant).declare(tenant.account());
        TestClaim claim = tenant.claim("data", "1Gi");
        train = tenant.pod("train", "sleep 600").withClaim("data").create().ready();
        volume = claim.volume();
    }

    @AfterAll
    static void end() {
        tenant.close();
        dataset.delete();
    }

    private static String run(int exit, String... words) {
        Command.Result result = siphon.siphon(words);
        assertEquals(exit, result.exit(), result::output);
        return result.output();
    }

    /// Runs `siphon whois` in the node's pod.
    private static String onNode(String clue) {
        Command.Result result = siphon.onNode("siphon", "whois", clue);
        assertEquals(0, result.exit(), result::output);
        return result.output();
    }

    private static void assertLine(String pattern, String text) {
        assertTrue(text.lines().anyMatch(line -> line.matches(pattern)), () -> pattern + " in: " + text);
    }

    @Test
    void eachClueOfAClaimLeadsToThePersonAndThePod() {
        String id = volume.getSpec().getCsi().getVolumeHandle();
        TestClaim.Subvolume subvolume = tenant.claimCalled("data").subvolume();
        String path = "/volumes/" + subvolume;
        String uid = train.resource().get().getMetadata().getUid();
        for (String clue : List.of(
                volume.getMetadata().getName(),
                id,
                path,
                path + "/some/file",
                "client.siphon." + CLUSTER.lab().fileSystem() + "." + subvolume.group() + "." + subvolume.name(),
                "u26/data",
                "u26/train",
                "/var/lib/kubelet/pods/" + uid + "/volumes/x",
                subvolume.group(),
                "u26",
                "10026")) {
            String told = run(0, "whois", clue);
            assertLine("account +u26", told);
            assertLine("uid +10026", told);
            assertLine("group +" + subvolume.group(), told);
            assertLine("volume +" + id, told);
            assertLine("pv +" + volume.getMetadata().getName() + " \\(Bound\\)", told);
            assertLine("claim +u26/data", told);
            assertLine("pod +u26/train \\(Running\\) on node " + CLUSTER.node(), told);
        }
    }

    @Test
    void aMountPointOfANodeLeadsToTheVolume() {
        String uid = train.resource().get().getMetadata().getUid();

        String told = onNode("/var/lib/kubelet/pods/" + uid + "/volumes/kubernetes.io~csi/"
                + volume.getMetadata().getName() + "/mount");

        assertLine("volume +" + volume.getSpec().getCsi().getVolumeHandle(), told);
        assertLine("pod +with uid " + uid, told);
    }

    @Test
    void aDatasetLeadsToItsReadersAndPods() {
        TestPod reader = tenant.pod("reader", "sleep 600")
                .withDataset(dataset.reference())
                .create()
                .ready();

        String loop = reader.run("sed", "-n", "s|^\\(/dev/loop[0-9]*\\) /data erofs .*|\\1|p", "/proc/mounts");
        String uid = reader.resource().get().getMetadata().getUid();
        String onNode = onNode(loop);
        assertLine("digest +" + dataset.digest(), onNode);
        assertLine("pod +with uid " + uid, onNode);
        assertEquals(onNode, onNode("/var/lib/kubelet/pods/" + uid + "/volumes/kubernetes.io~csi/data/mount"));
        for (String clue : List.of(dataset.reference(), "u26.digits", dataset.digest())) {
            String told = run(0, "whois", clue);
            assertLine("dataset +u26.digits", told);
            assertLine("readers +u26", told);
            assertLine("pod +u26/reader \\(Running\\) on node " + CLUSTER.node(), told);
        }
        String identity =
                CLUSTER
                        .identitiesWith(dataset.declaration()
                                .getAsJsonObject("spec")
                                .get("path")
                                .getAsString())
                        .stream()
                        .filter(entity -> entity.startsWith("client.siphon-dataset."))
                        .findFirst()
                        .orElseThrow();
        assertLine("node +" + CLUSTER.node() + ", which reads the dataset by it", run(0, "whois", identity));
        reader.delete();
    }

    @Test
    void aRunningPodWaitsForNothing() {
        assertEquals(
                "pod u26/train runs on node " + CLUSTER.node() + " and waits for nothing",
                run(0, "why", "u26/train").strip());
    }

    @Test
    void aPodThatIsNotThereIsAnError() {
        assertTrue(run(1, "why", "u26/nothing").contains("pod u26/nothing does not exist"));
        assertTrue(run(2, "why", "nothing").contains("write NAMESPACE/POD"));
    }

    @Test
    void aPodWhoseClaimIsRefusedSaysWhyInTheDriversWords() {
        TestClaim huge = tenant.claim("huge", "200Gi");
        TestPod pod = tenant.pod("huge", "true").withClaim("huge").create();
        var _ = huge.told("code = ResourceExhausted desc = .*");

        String told = run(0, "why", "u26/huge");

        assertLine(
                "pod u26/huge waits for claim u26/huge, which has no volume yet: ResourceExhausted: .*u26.* of its"
                        + " allowance.*; it is tried again, but fails until somebody does what this says",
                told);
        assertLine("pod u26/huge waits for a node: .*", told);
        assertLine("claim +u26/huge \\(Pending\\)", run(0, "whois", "u26/huge"));
        pod.delete();
        huge.delete();
    }

    @Test
    void aPodAtTheGateThatIsNoReaderSaysWhatToDo() {
        TestPod pod = tenant.pod("mistaken", "true")
                .withDataset("u26/numbers")
                .gated()
                .create();
        var _ = pod.told("^DatasetNotReadable: ");

        assertLine(
                "pod u26/mistaken waits at the gate, which stays closed until somebody acts: .*there is no dataset"
                        + " .u26.numbers.*",
                run(0, "why", "u26/mistaken"));
        pod.delete();
    }

    @Test
    void aPodWhoseVolumeCannotBeMountedSaysWhyInTheDriversWords() {
        TestPod pod = tenant.pod("unmounted", "true").withDataset("u26/numbers").create();
        var _ = pod.told("^FailedMount: .*code = ");

        assertLine(
                "pod u26/unmounted waits on node " + CLUSTER.node()
                        + " for a volume: NotFound: .*there is no dataset .*; it is tried again, but fails until somebody"
                        + " does what this says",
                run(0, "why", "u26/unmounted"));
        pod.delete();
    }
}
