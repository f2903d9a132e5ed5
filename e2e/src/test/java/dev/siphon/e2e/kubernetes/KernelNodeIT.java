package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/// A second node whose kernel mounts CephFS: its pods' users, an upgrade under them, an evicted client, and a
/// drain.
@Tag("kubernetes")
@AloneOnCluster
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class KernelNodeIT {
    private static final Cluster CLUSTER = Cluster.here();

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @SuppressWarnings("NullAway.Init")
    private static KernelNode node;

    @SuppressWarnings("NullAway.Init")
    private static BeatingPod heart;

    @BeforeAll
    static void join() {
        siphon = Installation.in(CLUSTER);
        // the next version: both nodes need the image beforehand
        for (String tag : List.of("lab", "next")) {
            tagImage(tag);
        }
        node = KernelNode.join(siphon, CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 53);
        var _ = tenant.claim("data", "1Gi");
        heart = BeatingPod.start(tenant, "data", node.name());
    }

    private static void tagImage(String tag) {
        var _ = Command.run(
                Chart.program("ctr").toString(),
                "-n",
                "k8s.io",
                "images",
                "tag",
                "--force",
                "docker.io/library/siphon:lab",
                "docker.io/library/siphon:" + tag);
    }

    @AfterAll
    static void end() {
        tenant.close();
        node.leave();
        siphon.folder().setTag("lab");
        siphon.apply();
    }

    @Test
    @Order(1)
    void itsKernelMountsTheVolume() {
        var _ = heart.pod().says(" ceph ");
    }

    @Test
    @Order(1)
    void aPodOnTheOtherNodeReadsItOverFuse() {
        TestPod other = tenant.pod(
                        "other", "until grep -m1 beat /data/beats; do sleep 0.2; done; od -c /data/beats | head")
                .withClaim("data")
                .on(CLUSTER.node())
                .create()
                .succeeded();

        assertEquals("beat 1", other.log().lines().findFirst().orElse(""), other::log);
    }

    @Test
    @Order(1)
    void aPodWithUsersOfItsOwnWritesAsTheAccount() {
        TestPod own = tenant.pod("own-users", "cat /proc/self/uid_map; echo mine >/data/mine; stat -c %u:%g /data/mine")
                .withClaim("data")
                .on(node.name())
                .withOwnUsers()
                .create()
                .succeeded();

        assertTrue(
                Pattern.compile("(?m)^ +0 +[1-9][0-9]+ +65536$")
                        .matcher(own.log())
                        .find(),
                own::log);
        assertEquals("10053:10053", own.lastLine());
        assertEquals("10053:10053", heart.pod().run("stat", "-c", "%u:%g", "/data/mine"));
    }

    @Test
    @Order(1)
    void rootInAPodIsTheAccountWhereTheClassSaysSo() {
        StorageClasses.derive(CLUSTER, "for-root", Map.of("containerUser", "root", "mounter", "kernel"));
        var _ = tenant.claim(
                "roots",
                "1Gi",
                claim -> claim.editSpec().withStorageClassName("for-root").endSpec());
        TestPod root = tenant.pod("root", "echo mine >/data/by-root; stat -c %u:%g /data/by-root; sleep 600")
                .as(0)
                .withClaim("roots")
                .on(node.name())
                .create()
                .ready();

        var _ = root.says("^0:0$");
        assertEquals(
                "10053:10053",
                node.run(
                        "find",
                        "/var/lib/kubelet/plugins",
                        "-path",
                        "*/globalmount/*",
                        "-name",
                        "by-root",
                        "-printf",
                        "%U:%G"));

        TestPod twice = tenant.pod("twice", "true")
                .as(0)
                .withClaim("roots")
                .on(node.name())
                .withOwnUsers()
                .create();
        var _ = twice.told("failed to set MOUNT_ATTR_IDMAP");
        twice.delete();
        root.delete();
        tenant.claimCalled("roots").delete();
        StorageClasses.delete(CLUSTER, "for-root");
    }

    @Test
    @Order(1)
    void aGroupsVolumeIsForTheMembersProcesses() {
        try (Tenant group = Tenant.of(CLUSTER, "u2", 2, Map.of("siphon.dev/owners", "group:lab"))) {
            TestClaim shared = group.claim(
                    "shared",
                    "1Gi",
                    claim -> claim.editMetadata()
                            .addToAnnotations("siphon.dev/owner", "group:lab")
                            .endMetadata());
            OwnershipIT.assertGroupShares(group, shared, pod -> pod.on(node.name()));
        }
    }

    /// Upgrades as docs/how-to/operate.md says. The new version differs in the image's tag only.
    @Test
    @Order(2)
    void anUpgradeDisturbsNoPodThere() {
        String old = siphon.nodePod(node.name());
        long since = heart.beat();
        // no controller may start on the guest: it has one slow processor and leaves soon
        node.cordon();
        siphon.folder().setTag("next");
        Thread applying = Thread.ofVirtual().start(siphon::apply);

        int claims = 0;
        while (applying.isAlive()) {
            var _ = tenant.claim("meanwhile-" + ++claims, "64Mi").bound();
        }
        var _ = CLUSTER.await(
                "the end of " + old,
                CLUSTER.client().pods().inNamespace(Installation.NAMESPACE).withName(old),
                Objects::isNull);
        heart.goesOn();
        siphon.rolledOut();
        heart.goesOn();

        Duration pause = heart.longestPause(since);
        assertTrue(pause.compareTo(Duration.ofSeconds(20)) < 0, pause::toString);
        assertEquals(0, restarts(heart.pod()));
        assertEquals(
                List.of("siphon:next"),
                Stream.of("node", "controller")
                        .flatMap(siphon::podsOf)
                        .flatMap(pod -> pod.getSpec().getContainers().stream())
                        .map(container -> container.getImage())
                        .distinct()
                        .toList());
        assertNotEquals(0, claims);
        node.uncordon();
    }

    private static int restarts(TestPod pod) {
        return pod.resource()
                .get()
                .getStatus()
                .getContainerStatuses()
                .getFirst()
                .getRestartCount();
    }

    @Test
    @Order(3)
    void aClientThatCephShutsOutIsToldOfAndAPodStartedAnewReads() {
        var _ = CLUSTER.ceph(
                "tell",
                "mds." + CLUSTER.lab().fileSystem() + ":0",
                "client",
                "evict",
                "client_metadata.hostname=" + node.name());

        var _ = heart.pod().told("^VolumeConditionAbnormal");
        heart.pod().remove();
        TestPod anew = tenant.pod("anew", "tail -n 1 /data/beats")
                .withClaim("data")
                .on(node.name())
                .create();

        assertTrue(anew.succeeded().log().startsWith("beat"), anew::log);
    }

    @Test
    @Order(4)
    void aDrainLeavesNothingMounted() {
        node.drain();

        var _ = Await.until(
                "nothing is mounted for pods",
                Cluster.PATIENCE,
                () -> node.cephMounts().isEmpty());
    }
}
