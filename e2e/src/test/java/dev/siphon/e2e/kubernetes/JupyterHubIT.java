package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Command;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Two people work in JupyterHub, with a browser: jupyterhub.yaml, rendered by its own chart, and
/// jupyterhub-namespace.yaml. One of them also logs in to ssh.yaml's pod.
@Tag("kubernetes")
@OnCluster
final class JupyterHubIT {
    private static final Cluster CLUSTER = Cluster.here();

    private static final String CELL = """
            import os, pathlib
            print(*(pathlib.Path(f"/datasets/{each}/two/7").read_text().strip() for each in ("imagenet", "coco")))
            print(os.getuid(), os.getgid())
            pathlib.Path.home().joinpath("notebook").write_text("in a notebook")
            pathlib.Path("/group/" + os.environ["JUPYTERHUB_USER"]).write_text("")
            print(*sorted(os.listdir("/group")))""";

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant one;

    @SuppressWarnings("NullAway.Init")
    private static Tenant other;

    @SuppressWarnings("NullAway.Init")
    private static List<SealedDataset> datasets;

    @SuppressWarnings("NullAway.Init")
    private static JupyterHub hub;

    @SuppressWarnings("NullAway.Init")
    private static List<String> first;

    @SuppressWarnings("NullAway.Init")
    private static List<String> second;

    @BeforeAll
    static void work() {
        siphon = Installation.in(CLUSTER);
        one = Tenant.ofAccount(CLUSTER, 78);
        other = Tenant.ofAccount(CLUSTER, 79);
        datasets = Stream.of(one, other)
                .map(each -> SealedDataset.seal(CLUSTER, each).declare(one.account(), other.account()))
                .toList();
        hub = JupyterHub.install(CLUSTER, List.of(one, other), datasets);
        first = hub.runCell(one, CELL).lines().toList();
        second = hub.runCell(other, CELL).lines().toList();
    }

    @AfterAll
    static void end() {
        hub.close();
        one.close();
        other.close();
        datasets.forEach(SealedDataset::delete);
        for (String each : List.of(one.account(), other.account(), "group:" + JupyterHub.GROUP)) {
            Command.Result deleted = siphon.siphon("home", each, "--delete", "--yes");
            assertEquals(0, deleted.exit(), deleted::output);
        }
    }

    @Test
    void aNotebookReadsBothDatasets() {
        assertEquals("seven seven", first.getFirst());
        assertEquals("seven seven", second.getFirst());
    }

    @Test
    void itRunsAsItsPerson() {
        assertEquals("10078 10078", first.get(1));
        assertEquals("10079 10079", second.get(1));
    }

    @Test
    void whatItWritesIsItsPersonsOnCephFs() {
        assertEquals("10078:10078 664", ownerInHome(one, "home", "notebook"));
        assertEquals("10079:10079 664", ownerInHome(other, "home", "notebook"));
    }

    @Test
    void theGroupsHomeShowsWhatEachOfThemWrote() {
        assertEquals("u78 u79", second.get(2));
        assertEquals("10078:" + JupyterHub.GROUP_ID + " 664", ownerInHome(other, "group", "u78"));
    }

    private static String ownerInHome(Tenant person, String claim, String name) {
        String group = person.claimCalled(claim).subvolume().group();
        try (CephTree tree = CephTree.mount(CLUSTER.lab());
                Stream<Path> found = Files.find(tree.at("/volumes/" + group), 3, (path, _) -> path.endsWith(name))) {
            return Command.run(
                            "stat",
                            "-c",
                            "%u:%g %a",
                            found.findFirst().orElseThrow().toString())
                    .strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void theOthersServerIsRefused() {
        assertEquals("403", hub.open(one, other));
    }

    @Test
    void theOthersPasswordIsRefused() {
        assertEquals("Invalid username or password", hub.logInWith(other, one));
    }

    @Test
    void aClaimOfTheOthersHomeIsRefused() {
        TestClaim claim = one.claim(
                "others",
                "1Gi",
                each -> each.editMetadata()
                        .addToAnnotations("siphon.dev/owner", other.account())
                        .endMetadata()
                        .editSpec()
                        .withStorageClassName("siphon-home")
                        .endSpec());

        var _ = claim.told("code = PermissionDenied desc = .*");

        claim.delete();
    }

    @Test
    void aPodWithThePersistentVolumeOfTheOthersHomeIsRefused() {
        String stolen = "stolen-home";
        var _ = CLUSTER.client()
                .persistentVolumes()
                .resource(OwnershipIT.stolen(other.claimCalled("home").volume(), stolen))
                .create();
        var _ = one.claim(
                stolen,
                "1Gi",
                claim -> claim.editSpec()
                        .withStorageClassName("")
                        .withVolumeName(stolen)
                        .endSpec());

        TestPod pod =
                one.pod("thief", "ls /data").as(other.uid()).withClaim(stolen).create();

        var _ = pod.told("code = PermissionDenied desc = .*");
        pod.delete();
        one.claimCalled(stolen).delete();
        var _ = CLUSTER.client().persistentVolumes().withName(stolen).delete();
    }

    @Test
    void theHubCreatesServersInItsPeoplesNamespacesAlone() {
        assertTrue(hub.mayCreatePodsIn(one.namespace()));
        assertFalse(hub.mayCreatePodsIn(Installation.NAMESPACE));
    }

    @Test
    void aKeyInTheHomeLogsInByItsAccount() {
        CLUSTER.apply(
                one.namespace(),
                new Examples(one)
                        .text("ssh.yaml")
                        .replaceAll("\\bu1\\b", one.account())
                        .replaceAll("image: \\S*/sshd:\\S*", "image: siphon.test/jupyterhub:1"));
        TestPod pod = one.podCalled("ssh").ready();
        String address = pod.resource().get().getStatus().getPodIP();
        String key = hub.browser().run("sh", "-c", "ssh-keygen -q -t ed25519 -N '' -f /tmp/key && cat /tmp/key.pub");

        Command.Result stranger = login(address);
        var _ = pod.run("sh", "-c", "umask 077; echo \"$0\" >>~/.ssh/authorized_keys", key);
        Command.Result known = login(address);

        assertNotEquals(0, stranger.exit(), stranger::output);
        assertTrue(stranger.output().contains("Permission denied (publickey)"), stranger::output);
        assertEquals(0, known.exit(), known::output);
        assertEquals("uid=10078(u78) in a notebook", known.output().strip());
        assertEquals("10078:10078 600", ownerInHome(one, "ssh-home", "over-ssh"));
        pod.delete();
    }

    private static Command.Result login(String address) {
        return hub.browser()
                .attempt(
                        "ssh",
                        "-i",
                        "/tmp/key",
                        "-p",
                        "2222",
                        "-o",
                        "BatchMode=yes",
                        "-o",
                        "LogLevel=ERROR",
                        "-o",
                        "StrictHostKeyChecking=accept-new",
                        "-o",
                        "UserKnownHostsFile=/tmp/known",
                        one.account() + "@" + address,
                        "echo $(id | cut -d' ' -f1) $(cat notebook); touch over-ssh");
    }
}
