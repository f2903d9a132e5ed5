package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Project;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Switches to the chart with snapshots: a snapshot, a claim from it, a group snapshot, and
/// VolumeAttributesClasses.
@Tag("kubernetes")
@AloneOnCluster
final class SnapshotsIT {
    private static final Cluster CLUSTER = Cluster.here();

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @SuppressWarnings("NullAway.Init")
    private static Examples examples;

    @BeforeAll
    static void train() {
        Installation siphon = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 61);
        examples = new Examples(tenant);
        examples.addTraining();
        examples.apply("training.yaml");
        var _ = examples.pod("training").succeeded();
        SnapshotController.addTo(siphon, CLUSTER);
        examples.apply("attributes.yaml");
    }

    @AfterAll
    static void end() {
        tenant.deleteSnapshots();
        tenant.close();
        var _ = CLUSTER.kubectl("delete", "volumeattributesclass", "few-files");
    }

    @Test
    void aPodGoesOnFromWhatTheSnapshotHas() {
        examples.apply("snapshot.yaml");

        SnapshotController.awaitReady(tenant, "training");

        String log = examples.pod("restored").succeeded().log();
        assertTrue(log.contains("goes on after epoch 10"), log);
    }

    @Test
    void aGroupIsASnapshotOfEachVolume() {
        for (String each : List.of("left", "right")) {
            var _ = tenant.claim(
                    each,
                    "64Mi",
                    claim -> claim.editMetadata().addToLabels("run", "first").endMetadata());
            var _ = tenant.pod("write-" + each, "echo " + each + " >/data/side")
                    .withClaim(each)
                    .create()
                    .succeeded();
        }

        examples.apply("group-snapshot.yaml");
        SnapshotController.awaitGroupReady(tenant, "first");

        for (String each : List.of("left", "right")) {
            var _ = tenant.claim(
                    "of-" + each,
                    "64Mi",
                    claim -> claim.editSpec()
                            .withNewDataSource("snapshot.storage.k8s.io", "VolumeSnapshot", snapshotOf(each))
                            .endSpec());
            assertEquals(
                    each,
                    tenant.pod("read-" + each, "cat /data/side")
                            .withClaim("of-" + each)
                            .create()
                            .succeeded()
                            .log()
                            .strip());
        }
    }

    /// Returns the group's snapshot of a claim.
    private static String snapshotOf(String claim) {
        return CLUSTER.kubectl(
                "-n",
                tenant.namespace(),
                "get",
                "volumesnapshots",
                "-o",
                "jsonpath={.items[?(@.spec.source.persistentVolumeClaimName==\"" + claim + "\")].metadata.name}");
    }

    /// The second night deletes the first night's snapshot, since the example is told to keep one.
    @Test
    void nightlySnapshotsAreTakenAndPruned() {
        makeKubectlImage();
        CLUSTER.apply(
                tenant.namespace(),
                examples.text("nightly-snapshots.yaml")
                        .replaceAll("image: alpine/kubectl:\\S*", "image: siphon.test/kubectl:1")
                        .replace("namespace: u1}", "namespace: " + tenant.namespace() + "}")
                        .replace("name: CLAIM, value: data", "name: CLAIM, value: training")
                        .replace("name: KEEP, value: '14'", "name: KEEP, value: '1'"));
        String first = snapshotOfNight("first");
        String second = snapshotOfNight("second");

        assertTrue(first.matches("training-[0-9]{8}-[0-9]{6}"), first);
        assertTrue(second.matches("training-[0-9]{8}-[0-9]{6}"), second);
        assertTrue(first.compareTo(second) < 0, first + " before " + second);
    }

    /// Runs the example's Job now, and returns the one snapshot that is there afterwards.
    private static String snapshotOfNight(String job) {
        var _ = CLUSTER.kubectl(
                "-n", tenant.namespace(), "create", "job", "--from=cronjob/nightly-snapshots", "night-" + job);
        var _ = CLUSTER.kubectl(
                "-n", tenant.namespace(), "wait", "job/night-" + job, "--for=condition=Complete", "--timeout=55s");
        return CLUSTER.awaitAll(
                        "one snapshot is left",
                        CLUSTER.client()
                                .genericKubernetesResources("snapshot.storage.k8s.io/v1", "VolumeSnapshot")
                                .inNamespace(tenant.namespace())
                                .withLabel("nightly", "training"),
                        left -> left.size() == 1)
                .getFirst()
                .getMetadata()
                .getName();
    }

    /// An image with kubectl and a shell, as the example wants it.
    private static void makeKubectlImage() {
        Path image = CLUSTER.lab().run().resolve("kubectl.tar");
        var _ = Command.run(
                Project.folder().resolve("e2e/lab.d/kubernetes/image").toString(),
                "siphon.test/kubectl:1",
                image.toString(),
                "/bin/sh",
                Chart.program("busybox") + "=/bin/busybox",
                Chart.program("kubernetes") + "=/bin/kubectl");
        var _ = Command.run(Chart.program("ctr").toString(), "-n", "k8s.io", "images", "import", image.toString());
    }

    @Test
    void aClassOfAttributesChangesTheModeOfAVolumeInUse() {
        tenant.claimCalled("training").setAttributes("group-reads");

        String log = tenant.pod("looking", "stat -c 'mode %a' /data")
                .withClaim("training")
                .create()
                .succeeded()
                .log();

        assertTrue(log.contains("mode 750"), log);
    }

    @Test
    void aClassOfAttributesLimitsTheNumberOfFiles() {
        tenant.claimCalled("training").setAttributes("few-files");

        String log = tenant.pod(
                        "limited",
                        "i=0; while [ $i -lt 20000 ]; do touch /data/more-$i 2>&1 || exit 0; i=$((i + 1)); done; exit 1")
                .withClaim("training")
                .create()
                .succeeded()
                .log();

        assertTrue(log.contains("quota exceeded"), log);
    }
}
